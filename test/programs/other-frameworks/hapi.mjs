// github.com/open-telemetry/opentelemetry-js-contrib/issues/453: the route of hapi, which the program reports.
import Hapi from '@hapi/hapi';
import { setRoute } from 'tracewright/spans';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /fails/{id} 500 !500
  own failing
server POST /orders/{id} 200
  own answered
  own before
  own handler {"n":1}
`;
export const alone =
  'OpenTelemetry has an instrumentation of hapi, which takes the place of what is tested here.';

export async function run() {
  const server = Hapi.server({ host: '127.0.0.1', port: 0, debug: false });
  server.ext('onPreAuth', ({ raw, route }, h) => {
    if (route.path !== '/{p*}') setRoute(raw.req, route.path);
    return h.continue;
  });
  server.ext('onPreHandler', ({ method }, h) => {
    if (method === 'post') own('before');
    return h.continue;
  });
  server.events.on('response', ({ method }) => {
    if (method === 'post') own('answered');
  });
  server.route([
    {
      method: 'POST',
      path: '/orders/{id}',
      handler: async ({ payload }) => {
        own(`handler ${JSON.stringify(payload)}`);
        return 'ok';
      },
    },
    {
      method: 'GET',
      path: '/fails/{id}',
      handler: () => {
        own('failing');
        throw new Error('fails');
      },
    },
  ]);
  await server.start();
  const url = await listen(server.listener);
  await ask(`${url}/missing`);
  await ask(`${url}/fails/1`);
  await ask(`${url}/orders/1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"n":1}',
  });
  await server.stop();
}
