// Requests take from one generator: its code runs below the request that asks for the next value.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own value 1
server POST (no route) 200
  own value 2
`;

export async function run() {
  async function* values() {
    for (let n = 1; ; n++) {
      own(`value ${n}`);
      yield n;
    }
  }
  const all = values();
  const url = await listen(
    createServer(async (_, response) => {
      const { value } = await all.next();
      response.end(String(value));
    }),
  );
  await ask(url);
  await ask(url, { method: 'POST' });
}
