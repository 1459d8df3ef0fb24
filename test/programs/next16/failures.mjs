// Pages that fail, that are not there, and that have moved: the route is that of the page, whatever page shows the error.
import { ask } from '../program.mjs';
import { serveNext } from './serve.mjs';

export const expected = `
server GET (no route) 307
server GET (no route) 404
  server GET (no route) 404
server GET /broken/[id] 500 !500
  server GET /broken/[id] 500 !500
server GET /fails/[id] 500 !500
  server GET /fails/[id] 500 !500
server GET /gone/[id] 404
  server GET /gone/[id] 404
`;
export const difference =
  'OpenTelemetry has the route on the span of Next alone. It is the route of the request.';

export async function run() {
  const { url, close } = await serveNext();
  for (const path of ['/broken/1', '/fails/1', '/gone/1', '/moved/1', '/none'])
    await ask(url + path);
  await close();
}
