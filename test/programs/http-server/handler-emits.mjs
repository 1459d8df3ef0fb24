// A handler emits an event of the request within a span: its listeners are below the span.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own check
    own checked
`;
export const difference =
  'OpenTelemetry takes the listener out of the span that emits. A synchronous call is below its caller.';

export async function run() {
  const server = createServer((request, response) => {
    request.on('data', () => {
      own('check', () => request.emit('checked'));
    });
    request.on('checked', () => own('checked'));
    request.on('end', () => response.end());
  });
  await ask(await listen(server), { method: 'POST', body: 'small' });
}
