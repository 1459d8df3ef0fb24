// A DataLoader for each request, as its guide says: the batch is below the request.
import { createServer } from 'node:http';
import DataLoader from 'dataloader';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own batch of 2
  own loaded 2,4
`;

export async function run() {
  const url = await listen(
    createServer(async (_, response) => {
      const loader = new DataLoader(async (keys) => {
        own(`batch of ${keys.length}`);
        return keys.map((key) => 2 * key);
      });
      own(`loaded ${await Promise.all([loader.load(1), loader.load(2)])}`);
      response.end();
    }),
  );
  await ask(url);
}
