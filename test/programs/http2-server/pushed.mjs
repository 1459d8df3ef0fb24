// A handler pushes another resource: that is no request, and its work is below the request of the handler.
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import { listen, own } from '../program.mjs';

export const expected = `
client GET server 200
  server GET (no route) 200
    own close of the push
    own push
`;
export const alone = 'OpenTelemetry has no instrumentation of node:http2.';
export const nodes = 22;

export async function run() {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.pushStream({ ':path': '/style.css' }, (error, pushed) => {
      own('push');
      pushed.on('close', () => own('close of the push'));
      pushed.respond();
      pushed.end('body {}');
      stream.respond();
      stream.end('page');
    });
  });
  const client = connect(await listen(server));
  const pushed = once(client, 'stream').then(([stream]) => once(stream.resume(), 'close'));
  const sent = client.request({ ':path': '/' });
  await Promise.all([once(sent.resume(), 'close'), pushed]);
  client.close();
}
