// h3 2 behind srvx, which makes the requests of the web of those of Node: a body is read.
import { H3 } from 'h3';
import { serve } from 'srvx/node';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /thrown/:id 500 !500
server POST /orders/:id 200
  own order 7
`;
export const alone = 'OpenTelemetry has no instrumentation of h3.';

export async function run() {
  const app = new H3({ silent: true });
  app.post('/orders/:id', async (event) => {
    own(`order ${(await event.req.json()).id}`);
    return 'ok';
  });
  app.get('/thrown/:id', () => {
    throw new Error('no');
  });
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', silent: true });
  await server.ready();
  const url = await listen(server.node.server);
  const headers = { 'content-type': 'application/json' };
  await ask(`${url}/orders/7`, { method: 'POST', headers, body: '{"id":7}' });
  await ask(`${url}/thrown/7`);
}
