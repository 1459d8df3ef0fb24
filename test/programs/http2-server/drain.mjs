// The answer is larger than the window: `drain` goes on with it.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
client GET server 200
  server GET (no route) 200
    own drain
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  const server = createServer((request, response) => {
    response.write('x'.repeat(1_000_000));
    response.once('drain', () => {
      own('drain');
      response.end();
    });
  });
  const client = connect(await listen(server));
  const sent = client.request({ ':path': '/' });
  await once(sent.resume(), 'close');
  client.close();
}
