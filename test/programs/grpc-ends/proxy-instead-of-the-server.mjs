// A proxy answers 502: its status of HTTP is the error.
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
own call
  client grpc shop.Shop/Call - !502
    server grpc shop.Shop/Call - !502
  own after
`;
export const alone = 'OpenTelemetry has no instrumentation of HTTP/2 clients.';
export const nodes = 22;

export async function run() {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 502 }, { endStream: true });
  });
  const session = connect(await listen(server, 'shop'));
  await own('call', async () => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/shop.Shop/Call',
      'content-type': 'application/grpc',
    });
    stream.resume().end();
    await new Promise((resolve) => stream.once('close', resolve));
    own('after');
  });
  session.close();
}
