// The API of streams, without requests and responses.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
client PUT server 201
  server PUT (no route) 201
    own close
    own data
    own end
    own stream
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  const server = createServer();
  server.on('stream', (stream) => {
    own('stream');
    stream.on('data', () => own('data'));
    stream.on('end', () => {
      own('end');
      stream.respond({ ':status': 201 });
      stream.end('made');
    });
    stream.on('close', () => own('close'));
  });
  const client = connect(await listen(server));
  const sent = client.request({ ':method': 'PUT', ':path': '/orders' });
  sent.end('small');
  await once(sent.resume(), 'close');
  client.close();
}
