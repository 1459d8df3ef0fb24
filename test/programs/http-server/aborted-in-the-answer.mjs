// The client leaves after the headers of the answer.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200 !aborted
  own close
`;
export const difference =
  'OpenTelemetry has no error, though the answer was never complete. Aborted is right.';

export async function run() {
  let closed;
  const server = createServer((request, response) => {
    closed = once(response, 'close');
    response.on('close', () => own('close'));
    response.on('error', () => own('error'));
    response.write('part');
  });
  await ask(await listen(server), { abortAfter: 'headers' });
  await closed;
}
