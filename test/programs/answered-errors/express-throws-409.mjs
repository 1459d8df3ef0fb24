// With TRACEWRIGHT_KEEP=errors, an error with a status of 409 is no reason to keep its trace.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `

`;
export const alone = 'OpenTelemetry decides before a request is over.';
export const environment = { TRACEWRIGHT_KEEP: 'errors' };

export async function run() {
  const app = express();
  app.get('/', () => {
    throw Object.assign(new Error('taken'), { status: 409 });
  });
  await ask(await listen(app.listen(0)));
}
