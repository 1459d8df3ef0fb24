// A gateway copies traceparent alone, and sends by fetch.
import { createServer } from 'node:http';
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
    createServer(async ({ headers: { traceparent } }, response) => {
      const answer = await fetch(stock, { headers: { traceparent } });
      response.end(await answer.text());
    }),
    'gateway',
  );
  await own('caller', async () => {
    await (await fetch(gateway)).text();
  });
}
