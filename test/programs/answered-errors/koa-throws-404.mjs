// With TRACEWRIGHT_KEEP=errors, a 404 that a handler of Koa throws is no reason to keep its trace.
import Koa from 'koa';
import { ask, listen } from '../program.mjs';

export const expected = `

`;
export const alone = 'OpenTelemetry decides before a request is over.';
export const environment = { TRACEWRIGHT_KEEP: 'errors' };

export async function run() {
  const app = new Koa();
  app.use((context) => context.throw(404));
  await ask(await listen(app.listen(0)));
}
