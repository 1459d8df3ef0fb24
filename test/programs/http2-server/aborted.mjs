// The client resets its stream while the handler works.
import { once } from 'node:events';
import { connect, constants, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
client POST server -
  server POST (no route) - !aborted
    own aborted
    own close of the request
    own close of the response
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  let closed;
  const server = createServer((request, response) => {
    closed = once(response, 'close');
    request.on('aborted', () => own('aborted'));
    request.on('close', () => own('close of the request'));
    response.on('close', () => own('close of the response'));
    response.stream.additionalHeaders({ ':status': 102 });
  });
  const client = connect(await listen(server));
  const sent = client.request({ ':method': 'POST', ':path': '/orders' });
  await once(sent, 'headers');
  sent.close(constants.NGHTTP2_CANCEL);
  await closed;
  client.close();
}
