// The first two requests of a name are kept, and no others that are neither slow nor failed.
import { createServer } from 'node:http';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET (no route) 200
server GET (no route) 200
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'first:2' };

export async function run() {
  const url = await listen(createServer((_, response) => response.end()));
  for (let n = 0; n < 5; n++) await ask(url);
}
