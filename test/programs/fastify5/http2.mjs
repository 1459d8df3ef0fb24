// Fastify on HTTP/2: its routes are those of the streams.
import http2 from 'node:http2';
import Fastify from 'fastify';
import { listen, outside, own } from '../program.mjs';

export const expected = `
client GET server 200
  server GET /users/:id 200
    own user
`;
export const alone = 'OpenTelemetry has no instrumentation of HTTP/2.';
export const nodes = 22;

export async function run() {
  const app = Fastify({ http2: true });
  app.get('/users/:id', async () => {
    own('user');
    return 'ok';
  });
  await app.ready();
  const url = await listen(app.server);
  const session = http2.connect(url);
  await outside(
    () =>
      new Promise((resolve) => {
        session.request({ ':path': '/users/7' }).on('close', resolve).resume();
      }),
  );
  session.close();
}
