// A gateway copies the headers in a span of its own, after a turn of the loop.
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
export const difference =
  'OpenTelemetry sends both values or keeps the copied one. Between caller and stock is the gateway.';

export async function run() {
  const stock = await listen(
    createServer((_, response) => {
      own('count');
      response.end('3');
    }),
    'stock',
  );
  const gateway = await listen(
    createServer(async ({ headers: received }, response) => {
      const headers = { ...received };
      delete headers.host;
      delete headers.connection;
      await new Promise(setImmediate);
      const sent = request(stock);
      for (const [name, value] of Object.entries(headers)) sent.setHeader(name, value);
      sent.on('response', (answer) => answer.pipe(response)).end();
    }),
    'gateway',
  );
  await own('caller', async () => {
    await (await fetch(gateway)).text();
  });
}
