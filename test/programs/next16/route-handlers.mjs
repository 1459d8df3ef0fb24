// Handlers of the app router read a body and call a service, below the proxy that lets their requests pass.
import { ask } from '../program.mjs';
import { serveNext } from './serve.mjs';

export const expected = `
server GET /api/fails/[id] 500 !500
  server GET /api/fails/[id] 500 !500
server GET /api/orders/[id] 200
  server GET (no route) 200
    own proxy
    server GET /api/orders/[id] 200
      own order 7
server POST /api/orders/[id] 201
  server POST (no route) 200
    own proxy
    server POST /api/orders/[id] 201
      client POST upstream 200
        client POST upstream 200
      own ordered 3
`;
export const difference =
  'OpenTelemetry has the route on the span of Next alone. It is the route of the request.';

export async function run() {
  const { url, close } = await serveNext();
  await ask(`${url}/api/orders/7`);
  const headers = { 'content-type': 'application/json' };
  await ask(`${url}/api/orders/8`, { method: 'POST', headers, body: '{"pieces":3}' });
  await ask(`${url}/api/fails/9`);
  await close();
}
