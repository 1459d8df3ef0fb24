// The client waits for 100 before it sends the body.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
client POST server 200
  server POST (no route) 200
    own data
    own end
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  const server = createServer((request, response) => {
    request.on('data', () => own('data'));
    request.on('end', () => {
      own('end');
      response.end();
    });
  });
  const client = connect(await listen(server));
  const sent = client.request({ ':method': 'POST', ':path': '/', expect: '100-continue' });
  await once(sent, 'continue');
  sent.end('small');
  await once(sent.resume(), 'close');
  client.close();
}
