// A function of connect throws, one hands an error on: the path of its mount is the route.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /late 503 !503
  own load
server GET /throws 500 !500
`;

export async function run() {
  // OpenTelemetry breaks the import of an ES module.
  const connect = createRequire(import.meta.url)('connect');
  const app = connect();
  app.use('/throws', () => {
    throw new Error('thrown');
  });
  app.use('/late', (request, response, next) => {
    setImmediate(() => {
      own('load');
      next(Object.assign(new Error('late'), { status: 503 }));
    });
  });
  app.use((error, _, response, next) => {
    if (response.headersSent) next(error);
    response.statusCode = error.status ?? 500;
    response.end();
  });
  const url = await listen(createServer(app));
  await ask(`${url}/throws/1`);
  await ask(`${url}/late/1`);
}
