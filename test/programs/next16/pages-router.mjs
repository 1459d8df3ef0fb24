// Pages and handlers of the pages router, and two requests at once.
import { ask } from '../program.mjs';
import { serveNext } from './serve.mjs';

export const expected = `
server GET /api/hello/[name] 200
  server GET /api/hello/[name] 200
    own hello ada
server GET /posts/[slug] 200
  server GET /posts/[slug] 200
    own post first
server GET /posts/[slug] 200
  server GET /posts/[slug] 200
    own post second
`;

export async function run() {
  const { url, close } = await serveNext();
  await Promise.all([
    ask(`${url}/posts/first`),
    ask(`${url}/posts/second`),
    ask(`${url}/api/hello/ada`),
  ]);
  await close();
}
