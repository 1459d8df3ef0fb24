// An answer that is streamed: what writes it is below the request.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { stream } from 'hono/streaming';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /export/:id 200
  own first
  own last
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const app = new Hono().get('/export/:id', (context) =>
    stream(context, async (to) => {
      own('first');
      await to.write('a');
      own('last');
      await to.write('b');
    }),
  );
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  await ask(`${url}/export/7`);
}
