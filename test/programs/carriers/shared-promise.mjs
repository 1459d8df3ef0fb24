// Two requests wait for one load: it is below the first one, and each goes on below itself.
import { createServer } from 'node:http';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own load
  own loaded for GET
server POST (no route) 200
  own loaded for POST
`;

export async function run() {
  let loading;
  let finish;
  let waiting = 0;
  const load = () => own('load', () => new Promise((resolve) => (finish = resolve)));
  const url = await listen(
    createServer(async ({ method }, response) => {
      loading ??= load();
      waiting += 1;
      await loading;
      own(`loaded for ${method}`);
      response.end();
    }),
  );
  const first = ask(url);
  await until(() => waiting === 1);
  const second = ask(url, { method: 'POST' });
  await until(() => waiting === 2);
  finish();
  await Promise.all([first, second]);
}
