// A request that is slow already asks those that it calls to keep the trace, for some seconds.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, listen, otherProcess, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  client GET stock 200
  own asks to keep
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'slower:100ms' };

export async function run() {
  const stock = await otherProcess('stock');
  const url = await listen(
    createServer(async (_, response) => {
      await sleep(120);
      const { tracestate } = await (await fetch(stock)).json();
      const left = Number(/^tracewright=keep:(\d{13})$/.exec(tracestate)?.[1]) - Date.now();
      if (left > 0 && left <= 5000) own('asks to keep');
      response.end();
    }),
  );
  await ask(url);
}
