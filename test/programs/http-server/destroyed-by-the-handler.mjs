// The handler destroys the connection instead of an answer.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) - !aborted
  own close of the request
  own close of the response
`;
export const difference =
  'OpenTelemetry has status 200 and no error, though nobody got an answer. Aborted is right.';

export async function run() {
  let closed;
  const server = createServer((request, response) => {
    closed = once(response, 'close');
    request.on('close', () => own('close of the request'));
    response.on('close', () => own('close of the response'));
    request.destroy();
  });
  await ask(await listen(server));
  await closed;
}
