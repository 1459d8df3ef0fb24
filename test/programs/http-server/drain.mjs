// The answer is larger than what the connection takes: `drain` goes on with it.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own drain
`;

export async function run() {
  const server = createServer((request, response) => {
    const chunk = 'x'.repeat(4_000_000);
    const isFull = !response.write(chunk);
    response.once('drain', () => {
      own('drain');
      response.end(chunk);
    });
    if (!isFull) response.emit('drain');
  });
  await ask(await listen(server));
}
