// Pages of the app router, also by a rewrite: one route for all ids. Next's own span of the request is below ours.
import { ask } from '../program.mjs';
import { serveNext } from './serve.mjs';

export const expected = `
server GET /users/[id] 200
  server GET /users/[id] 200
    client GET upstream 200
      client GET upstream 200
    own page of 7
server GET /users/[id] 200
  server GET /users/[id] 200
    client GET upstream 200
      client GET upstream 200
    own page of 8
`;
export const difference =
  'OpenTelemetry has the route on the span of Next alone. It is the route of the request.';

export async function run() {
  const { url, close } = await serveNext();
  await ask(`${url}/users/7`);
  await ask(`${url}/people/8`);
  await close();
}
