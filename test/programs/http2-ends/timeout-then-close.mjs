// The event `timeout` of a stream, then `close`.
import { once } from 'node:events';
import { connect, constants, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200 !timeout
    server GET (no route) 200 !aborted
  own after
`;
export const alone = 'OpenTelemetry has no instrumentation of HTTP/2 clients.';
export const nodes = 22;

export async function run() {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200 });
    stream.write('a part');
  });
  const session = connect(await listen(server, 'stock'));
  session.on('error', () => {});
  await own('call', async () => {
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => {});
    await once(stream, 'response');
    stream.setTimeout(30, () => stream.close(constants.NGHTTP2_CANCEL));
    stream.resume();
    await new Promise((resolve) => stream.once('close', resolve));
    own('after');
  });
  session.destroy();
}
