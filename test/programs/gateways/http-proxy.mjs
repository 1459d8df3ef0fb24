// http-proxy sends requests on.
import { createServer } from 'node:http';
import httpProxy from 'http-proxy';
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
  const proxy = httpProxy.createProxyServer({ target: stock });
  const gateway = await listen(
    createServer((incoming, response) => proxy.web(incoming, response)),
    'gateway',
  );
  await own('caller', async () => {
    await (await fetch(gateway)).text();
  });
}
