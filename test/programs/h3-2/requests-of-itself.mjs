// h3 2: `app.request` and `app.fetch`, below what is active, else below their sender.
import { H3 } from 'h3';
import { own } from '../program.mjs';

export const expected = `
(remote) server GET /users/:id 200
  own user
own job
  server GET /users/:id 200
    own user
`;
export const alone = 'OpenTelemetry has no instrumentation of h3.';

export async function run() {
  const app = new H3().get('/users/:id', () => {
    own('user');
    return 'ok';
  });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await app.request('/users/7', { headers: { traceparent } });
  await own('job', () => app.fetch(new Request('http://127.0.0.1/users/8')));
}
