// A service asks another one: the call is below the request, and the other's request below the call.
import { createServer, request } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  client GET stock 200
    server GET (no route) 200
      own count
  own after the answer
`;

export async function run() {
  const stock = await listen(
    createServer((_, response) => {
      own('count');
      response.end('3');
    }),
    'stock',
  );
  const shop = await listen(
    createServer((_, response) => {
      request(stock, (answer) => {
        answer.resume().on('end', () => {
          own('after the answer');
          response.end();
        });
      }).end();
    }),
  );
  await ask(shop);
}
