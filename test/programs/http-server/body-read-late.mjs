// The handler reads the body only after it has waited for something else.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own authorize
  own data
  own end
`;

export async function run() {
  const url = await listen(
    createServer(async (request, response) => {
      await own('authorize', () => sleep(5));
      request.on('data', () => own('data'));
      request.on('end', () => {
        own('end');
        response.end();
      });
    }),
  );
  await ask(url, { method: 'POST', body: 'small' });
}
