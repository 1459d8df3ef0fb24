// What answers is no server of gRPC: HTTP 200, and no grpc-status.
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
own call
  client grpc shop.Shop/Call - !NO_GRPC_STATUS
    server grpc shop.Shop/Call - !NO_GRPC_STATUS
  own after
`;
export const alone = 'OpenTelemetry has no instrumentation of HTTP/2 clients.';
export const nodes = 22;

export async function run() {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'text/html' });
    stream.end('<h1>It works</h1>');
  });
  const session = connect(await listen(server, 'shop'));
  await own('call', async () => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/shop.Shop/Call',
      'content-type': 'application/grpc+proto',
    });
    stream.resume().end();
    await new Promise((resolve) => stream.once('close', resolve));
    own('after');
  });
  session.close();
}
