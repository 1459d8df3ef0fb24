// What a failed request has left running is kept with it for 5 s. Later it is decided anew, with a link.
import { createServer } from 'node:http';
import { ask, listen, otherProcess, own, until } from '../program.mjs';

export const expected = `
client GET stock 500 !500 links:1
own late failure !error links:1
server GET (no route) 500 !500
  client GET stock 200
  own soon
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'errors' };

export async function run() {
  const stock = await otherProcess('stock', { '/fails': { status: 500 } });
  let ticks = 0;
  const call = async (path) => (await fetch(stock + path)).text();
  const url = await listen(
    createServer((_, response) => {
      setTimeout(async () => {
        own('soon');
        await call('/soon');
        ticks += 1;
      }, 10);
      setTimeout(async () => {
        own('late');
        const { tracestate = '' } = JSON.parse(await call('/late'));
        if (tracestate.includes('keep')) throw new Error(`sent ${tracestate}`);
        await call('/fails');
        try {
          own('late failure', () => {
            throw new Error('late');
          });
        } catch {
          ticks += 1;
        }
      }, 7000);
      response.statusCode = 500;
      response.end();
    }),
  );
  await ask(url);
  await until(() => ticks === 2);
}
