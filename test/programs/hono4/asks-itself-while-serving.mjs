// A handler asks the application: a part of the request, whose route stays.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /outer/:id 200
  own after
  server GET /inner/:id 200
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const app = new Hono();
  app.get('/inner/:id', (context) => context.text('inner'));
  app.get('/outer/:id', async () => {
    const answer = await app.request('/inner/8');
    own('after');
    return answer;
  });
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  await ask(`${url}/outer/7`);
}
