// axios: a request with a body, and one that is not found.
import { createServer } from 'node:http';
import axios from 'axios';
import { listen, own } from '../program.mjs';

export const expected = `
own caller
  client GET stock 404 !404
    server GET (no route) 404
      own serve /missing
  client POST stock 200
    server POST (no route) 200
      own serve /items
  own after
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      own(`serve ${request.url}`);
      response.statusCode = request.url === '/missing' ? 404 : 200;
      request.resume().on('end', () => response.end('{}'));
    }),
    'stock',
  );
  await own('caller', async () => {
    await axios.post(`${url}/items`, { n: 1 });
    await axios.get(`${url}/missing`).catch(() => {});
    own('after');
  });
}
