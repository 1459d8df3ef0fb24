// An expectation that Node does not know is answered with 417, without a handler.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 417
`;
export const difference =
  'OpenTelemetry has no span for what Node answers itself. The caller got a 417.';

export async function run() {
  const url = await listen(createServer(() => own('handler')));
  await ask(url, { headers: { expect: 'more' } });
}
