// The body is read as a whole, by `json()` of node:stream/consumers.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own order 7
`;

export async function run() {
  const url = await listen(
    createServer(async (request, response) => {
      const { id } = await json(request);
      own(`order ${id}`);
      response.end();
    }),
  );
  await ask(url, { method: 'POST', body: '{"id":7}' });
}
