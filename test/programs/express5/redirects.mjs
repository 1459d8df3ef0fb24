// Redirects: of a route, and of static files to the path with a slash.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /assets 301
server GET /new/:id 200
server GET /old/:id 302
`;

export async function run() {
  const app = express();
  app.get('/old/:id', ({ params }, response) => response.redirect(`/new/${params.id}`));
  app.get('/new/:id', (_, response) => response.end());
  app.use('/assets', express.static(`${import.meta.dirname}/..`));
  const url = await listen(app.listen(0, '127.0.0.1'));
  const { headers } = await ask(`${url}/old/7`);
  await ask(url + headers.location);
  await ask(`${url}/assets/express5`);
}
