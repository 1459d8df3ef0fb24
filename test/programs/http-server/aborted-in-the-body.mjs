// The client leaves in the middle of its body.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server POST (no route) - !aborted
  own aborted
  own close of the request
  own close of the response
  own data
  own error of the request
`;
export const difference =
  'OpenTelemetry has status 200 and no error, though nobody got an answer. Aborted is right.';

export async function run() {
  let closed;
  const server = createServer((request, response) => {
    closed = once(response, 'close');
    request.once('data', () => {
      own('data');
      response.writeProcessing();
    });
    request.on('end', () => own('end'));
    request.on('aborted', () => own('aborted'));
    request.on('error', () => own('error of the request'));
    request.on('close', () => own('close of the request'));
    response.on('close', () => own('close of the response'));
  });
  const url = await listen(server);
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n';
  await raw(url, [head, '12345', null], { until: '102', reset: true });
  await closed;
}
