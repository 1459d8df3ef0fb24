// `app.request`: below what is active, else below its sender.
import { Hono } from 'hono';
import { own } from '../program.mjs';

export const expected = `
(remote) server GET /users/:id 200
  own user
own job
  server GET /users/:id 200
    own user
server GET (no route) 404
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const app = new Hono().get('/users/:id', (context) => {
    own('user');
    return context.text('ok');
  });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await app.request('/users/7', { headers: { traceparent } });
  await own('job', () => app.request('/users/8'));
  await app.request('/none');
}
