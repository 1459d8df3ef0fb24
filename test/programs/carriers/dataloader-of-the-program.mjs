// One DataLoader for all: the batch is below the request that has begun it, with a link to each caller. Each goes on below itself.
import { createServer } from 'node:http';
import DataLoader from 'dataloader';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own batch of 2 links:2
  own loaded for GET
server POST (no route) 200
  own loaded for POST
`;

export const difference =
  'OpenTelemetry has no link to the second caller. A batch for two callers has a link to each.';

export async function run() {
  let dispatch;
  let waiting = 0;
  const gate = new Promise((resolve) => (dispatch = resolve));
  const loader = new DataLoader(
    async (keys) => {
      own(`batch of ${keys.length}`);
      return keys;
    },
    { batchScheduleFn: (callback) => void gate.then(callback) },
  );
  const url = await listen(
    createServer(async ({ method }, response) => {
      const loaded = loader.load(method);
      waiting += 1;
      await loaded;
      own(`loaded for ${method}`);
      response.end();
    }),
  );
  const first = ask(url);
  await until(() => waiting === 1);
  const second = ask(url, { method: 'POST' });
  await until(() => waiting === 2);
  dispatch();
  await Promise.all([first, second]);
}
