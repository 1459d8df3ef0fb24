// h3 2: middleware for a path, an application below a base, an error with a status, and a hook for the answer.
import { H3, HTTPError, withBase } from 'h3';
import { serve } from 'srvx/node';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /admin/users/:id 403
  own middleware
server GET /api/items/:id 200
  own answered 200
  own item 7
`;
export const alone = 'OpenTelemetry has no instrumentation of h3.';

export async function run() {
  const api = new H3().get('/items/:id', (event) => {
    own(`item ${event.context.params.id}`);
    return 'ok';
  });
  const app = new H3({
    silent: true,
    onResponse: (response) => {
      if (response.status === 200) own(`answered ${response.status}`);
    },
  });
  app.use('/admin/**', () => {
    own('middleware');
    throw new HTTPError({ status: 403 });
  });
  app.get('/admin/users/:id', () => 'never');
  app.all('/api/**', withBase('/api', api));
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', silent: true });
  await server.ready();
  const url = await listen(server.node.server);
  await ask(`${url}/api/items/7`);
  await ask(`${url}/admin/users/7`);
}
