// Routers within routers, each below a parameter: the route has the patterns of all.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /a/:x 200
server GET /a/:x/b/:y/c/:z 200
`;

export async function run() {
  const inner = express.Router();
  inner.get('/c/:z', (_, response) => response.end());
  const outer = express.Router();
  outer.use('/b/:y', inner);
  outer.get('/', (_, response) => response.end());
  const app = express();
  app.use('/a/:x', outer);
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/a/1/b/2/c/3`);
  await ask(`${url}/a/4`);
}
