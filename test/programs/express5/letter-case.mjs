// Express ignores the case of letters: the route is the pattern, not what was requested.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /case/:k 200
server GET /case/:k 200
`;

export async function run() {
  const router = express.Router();
  router.get('/:k', (_, response) => response.end());
  const app = express();
  app.use('/case', router);
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/case/k`);
  await ask(`${url}/CASE/K`);
}
