// What a program does after an answer: in `finish`, `close`, and the callbacks of `write` and `end`.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own close
  own ended
  own finish
  own prefinish
  own written
`;

export async function run() {
  const server = createServer((request, response) => {
    response.on('prefinish', () => own('prefinish'));
    response.on('finish', () => own('finish'));
    response.on('close', () => own('close'));
    response.write('some', () => own('written'));
    response.end('more', () => own('ended'));
  });
  await ask(await listen(server));
}
