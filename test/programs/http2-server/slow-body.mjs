// The body comes long after the headers, in two frames.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
client POST server 200
  server POST (no route) 200
    own data one
    own data two
    own end
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  const server = createServer((request, response) => {
    response.stream.additionalHeaders({ ':status': 102 });
    request.on('data', (chunk) => {
      own(`data ${chunk}`);
      response.stream.additionalHeaders({ ':status': 102 });
    });
    request.on('end', () => {
      own('end');
      response.end();
    });
  });
  const client = connect(await listen(server));
  const sent = client.request({ ':method': 'POST', ':path': '/orders' });
  await once(sent, 'headers');
  sent.write('one');
  await once(sent, 'headers');
  sent.end('two');
  await once(sent.resume(), 'close');
  client.close();
}
