// A handler never answers; the client leaves.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server GET (no route) - !aborted
  own handler
`;
export const difference =
  'OpenTelemetry has status 200 and no error, though nobody got an answer. Aborted is right.';

export async function run() {
  let closed;
  const server = createServer((request, response) => {
    own('handler');
    closed = once(request.socket, 'close');
    response.writeProcessing();
  });
  const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
  await raw(await listen(server), [head, null], { until: '102' });
  await closed;
}
