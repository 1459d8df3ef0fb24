// Subscribers of a subject run below the request that emits; what a request awaits goes on below itself.
import { createServer } from 'node:http';
import { firstValueFrom, map, Subject } from 'rxjs';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own got order
server POST (no route) 200
  own map order
`;

export async function run() {
  const subject = new Subject();
  let isWaiting = false;
  const url = await listen(
    createServer(async ({ method }, response) => {
      if (method === 'POST') subject.next('order');
      else {
        const mapped = subject.pipe(
          map((value) => {
            own(`map ${value}`);
            return value;
          }),
        );
        const first = firstValueFrom(mapped);
        isWaiting = true;
        own(`got ${await first}`);
      }
      response.end();
    }),
  );
  const waits = ask(url);
  await until(() => isWaiting);
  await ask(url, { method: 'POST' });
  await waits;
}
