// The peer resets the stream.
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200 !ERR_HTTP2_STREAM_ERROR
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
    setImmediate(() => stream.destroy(new Error('a bug')));
  });
  const session = connect(await listen(server, 'stock'));
  session.on('error', () => {});
  await own('call', async () => {
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => {});
    stream.resume();
    await new Promise((resolve) => stream.once('close', resolve));
    own('after');
  });
  session.destroy();
}
