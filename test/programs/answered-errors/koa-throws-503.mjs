// With TRACEWRIGHT_KEEP=errors, a 503 that a handler of Koa throws is a reason.
import Koa from 'koa';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET (no route) 503 !503
`;
export const alone = 'OpenTelemetry decides before a request is over.';
export const environment = { TRACEWRIGHT_KEEP: 'errors' };

export async function run() {
  const app = new Koa();
  app.silent = true;
  app.use((context) => context.throw(503));
  await ask(await listen(app.listen(0)));
}
