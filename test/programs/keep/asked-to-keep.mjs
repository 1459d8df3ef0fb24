// A caller's word to keep a trace holds for some seconds. One that is too old, or from far ahead, does not. One without
// a time counts when it comes.
import { createServer } from 'node:http';
import { ask, listen } from '../program.mjs';

export const expected = `
(remote) server GET (no route) 200
(remote) server GET (no route) 200
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'errors' };

export async function run() {
  const url = await listen(createServer((_, response) => response.end()));
  const askFor = (n, tracestate) =>
    ask(url, {
      headers: { traceparent: `00-${`${n}`.repeat(32)}-b7ad6b7169203331-01`, tracestate },
    });
  await askFor(1, `tracewright=keep:${Date.now() + 5000}`);
  await askFor(2, `tracewright=keep:${Date.now() - 1}`);
  await askFor(3, `tracewright=keep:${Date.now() + 60_000}`);
  await askFor(4, 'tracewright=keep');
  await askFor(5, '');
}
