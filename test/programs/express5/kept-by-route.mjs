// TRACEWRIGHT_KEEP=first:1 keeps one request of each route, whichever parameters it has.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /users/:id/posts/:post 200
server POST /graphql 200
`;
export const environment = { TRACEWRIGHT_KEEP: 'first:1' };
export const alone = 'Only the hook keeps requests by their routes.';

export async function run() {
  const posts = express.Router();
  posts.get('/posts/:post', (_, response) => response.end());
  const app = express();
  app.use('/users/:id', posts);
  app.use('/graphql', (_, response) => response.end());
  const url = await listen(app.listen(0, '127.0.0.1'));
  for (let id = 0; id < 20; id++) {
    await ask(`${url}/users/${id}/posts/1`);
    await ask(`${url}/graphql/${id}`, { method: 'POST' });
  }
}
