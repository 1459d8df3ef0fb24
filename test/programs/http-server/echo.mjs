// The body is piped into the answer; what runs when that is sent.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own close
  own finish
  own unpipe
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      request.pipe(response);
      response.on('pipe', () => own('pipe'));
      response.on('unpipe', () => own('unpipe'));
      response.on('finish', () => own('finish'));
      response.on('close', () => own('close'));
    }),
  );
  await ask(url, { method: 'POST', body: 'x'.repeat(200_000) });
}
