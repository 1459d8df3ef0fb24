// Express 5 parses JSON with a function of the program that checks the bytes.
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST /orders 200
  own order 7
  own verify
`;

export async function run() {
  const app = express();
  app.use(express.json({ verify: () => own('verify') }));
  app.post('/orders', (request, response) => {
    own(`order ${request.body.id}`);
    response.end();
  });
  const headers = { 'content-type': 'application/json' };
  const url = await listen(app.listen(0));
  await ask(`${url}/orders`, { method: 'POST', headers, body: '{"id":7}' });
}
