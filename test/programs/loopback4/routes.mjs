// LoopBack answers below its base path, which Express mounts: the route is the pattern of its own router.
import { createRequire } from 'node:module';
import { ask, namePort, own } from '../program.mjs';

export const expected = `
server GET /api/orders/{id} 200
  own order 1
server GET /api/orders/{id} 200
  own order 2
server POST /api/orders/{id} 422
`;
export const difference =
  'OpenTelemetry has no routes without its instrumentation of Express, and one for all with it. The pattern is right.';

export async function run() {
  const { RestApplication } = createRequire(import.meta.url)('@loopback/rest');
  const app = new RestApplication({ rest: { port: 0, host: '127.0.0.1', basePath: '/api' } });
  app.bind('sequence.actions.logError').to(() => {});
  const parameters = [{ name: 'id', in: 'path', schema: { type: 'string' } }];
  const spec = { parameters, responses: {} };
  app.route('get', '/orders/{id}', spec, async (id) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    own(`order ${id}`);
    return id;
  });
  app.route('post', '/orders/{id}', spec, async () => {
    throw Object.assign(new Error('refused'), { statusCode: 422 });
  });
  await app.start();
  const { port } = new URL(app.restServer.url);
  namePort(port, 'server');
  const url = `http://127.0.0.1:${port}/api/orders`;
  await Promise.all([ask(`${url}/1`), ask(`${url}/2`), ask(`${url}/3`, { method: 'POST' })]);
  await app.stop();
}
