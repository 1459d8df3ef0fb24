// A small body comes in one packet with its head: listeners for `data` and `end`, and what follows them.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own after the end
  own close of the request
  own data
  own end
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      request.once('data', () => own('data'));
      request.on('end', async () => {
        own('end');
        await sleep(1);
        own('after the end');
        response.end();
      });
      request.on('close', () => own('close of the request'));
    }),
  );
  await ask(url, { method: 'POST', body: 'small' });
}
