// axios: a request with a body, and one that is not found.
import axios from 'axios';
import { own } from '../program.mjs';
import { startStock } from './stock.mjs';

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
  const url = await startStock();
  await own('caller', async () => {
    await axios.post(`${url}/items`, { n: 1 });
    await axios.get(`${url}/missing`).catch(() => {});
    own('after');
  });
}
