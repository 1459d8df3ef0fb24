// A GET that is listened to as if it had a body.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own close of the request
  own end
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      request.on('data', () => own('data'));
      request.on('end', () => {
        own('end');
        response.end();
      });
      request.on('close', () => own('close of the request'));
    }),
  );
  await ask(url);
}
