// A gateway pipes a request on with the headers that it has received.
import { createServer, request } from 'node:http';
import { listen, own } from '../program.mjs';

export const expected = `
own caller
  client GET gateway 200
    server GET (no route) 200
      client GET stock 200
        server GET (no route) 200
          own count
`;

export async function run() {
  const stock = await listen(
    createServer((_, response) => {
      own('count');
      response.end('3');
    }),
    'stock',
  );
  const { port } = new URL(stock);
  const gateway = await listen(
    createServer((incoming, response) => {
      const { url: path, method, headers } = incoming;
      const sent = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      });
      incoming.pipe(sent);
    }),
    'gateway',
  );
  await own('caller', async () => {
    await (await fetch(gateway)).text();
  });
}
