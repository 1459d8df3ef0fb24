// A circuit breaker, a mutex and retries that all requests share: each call is below the request that makes it.
import { createServer } from 'node:http';
import { Mutex } from 'async-mutex';
import CircuitBreaker from 'opossum';
import pRetry from 'p-retry';
import { ask, listen, otherProcess, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  client GET stock 200
  own attempt 1 of GET
  own attempt 2 of GET
  own locked GET
server POST (no route) 200
  client GET stock 200
  own attempt 1 of POST
  own attempt 2 of POST
  own locked POST
`;

export async function run() {
  const stock = await otherProcess('stock');
  const mutex = new Mutex();
  const breaker = new CircuitBreaker(async () => (await fetch(stock)).text(), { timeout: 10_000 });
  const url = await listen(
    createServer(async ({ method }, response) => {
      await mutex.runExclusive(async () => {
        own(`locked ${method}`);
        await breaker.fire();
      });
      await pRetry(
        async (attempt) => {
          own(`attempt ${attempt} of ${method}`);
          if (attempt === 1) throw new Error('once');
        },
        { minTimeout: 1 },
      );
      response.end();
    }),
  );
  await Promise.all([ask(url), ask(url, { method: 'POST' })]);
  breaker.shutdown();
}
