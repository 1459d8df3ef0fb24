// A server begins to listen within a span: its connections are not below that.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { listen, own, outside } from '../program.mjs';

export const expected = `
client POST server 200
  server POST (no route) 200
    own end
own session
own start
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      own('end');
      response.end();
    });
  });
  server.on('session', () => own('session'));
  const url = await own('start', () => listen(server));
  await outside(async () => {
    const client = connect(url);
    const sent = client.request({ ':method': 'POST', ':path': '/' });
    sent.end('small');
    await once(sent.resume(), 'close');
    client.close();
  });
}
