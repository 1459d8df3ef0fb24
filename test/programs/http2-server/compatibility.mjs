// The compatibility API: a body in one frame, and what runs in `finish` and `close`.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
client POST server 200
  server POST (no route) 200
    own close
    own data
    own end
    own finish
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  const server = createServer((request, response) => {
    request.once('data', () => own('data'));
    request.on('end', () => {
      own('end');
      response.end();
    });
    response.on('finish', () => own('finish'));
    response.on('close', () => own('close'));
  });
  const client = connect(await listen(server));
  const sent = client.request({ ':method': 'POST', ':path': '/orders' });
  sent.end('small');
  await once(sent.resume(), 'close');
  client.close();
}
