// github.com/DataDog/dd-trace-js/issues/2191: a storage that the first handler of restify enters stays entered.
import { AsyncLocalStorage } from 'node:async_hooks';
import restify from 'restify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /orders/:id 200
  own after 1
  own handler 1
server GET /orders/:id 200
  own after 2
  own handler 2
`;
export const alone = 'OpenTelemetry has an instrumentation of restify for earlier versions only.';

export async function run() {
  const storage = new AsyncLocalStorage();
  const server = restify.createServer();
  server.use((request, response, next) => storage.run(request.headers['x-number'], next));
  server.on('after', () => own(`after ${storage.getStore()}`));
  server.get('/orders/:id', (request, response, next) => {
    own(`handler ${storage.getStore()}`);
    response.send({});
    next();
  });
  const url = await listen(server.server);
  await Promise.all([1, 2].map((n) => ask(`${url}/orders/${n}`, { headers: { 'x-number': n } })));
}
