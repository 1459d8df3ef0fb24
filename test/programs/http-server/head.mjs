// HEAD: the answer has no body, and the handler writes one all the same.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server HEAD (no route) 200
  own end
  own finish
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      request.resume().on('end', () => own('end'));
      response.on('finish', () => own('finish'));
      response.end('no body');
    }),
  );
  await ask(url, { method: 'HEAD' });
}
