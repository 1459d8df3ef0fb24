// A gateway that is older than the limit calls in time: its call does not ask to keep the trace.
import { createServer } from 'node:http';
import { ask, listen, otherProcess, until } from '../program.mjs';

export const expected = `
server GET (no route) 500 !500
  client GET stock 200
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'slower:3s,errors' };

export async function run() {
  const stock = await otherProcess('stock');
  const url = await listen(
    createServer(async (request, response) => {
      const { tracestate = '' } = await (await fetch(stock)).json();
      if (tracestate.includes('keep')) throw new Error(`sent ${tracestate}`);
      response.statusCode = request.headers['x-fails'] ? 500 : 200;
      response.end();
    }),
  );
  await until(() => performance.now() > 3200);
  for (let n = 0; n < 5; n++) await ask(url);
  await ask(url, { headers: { 'x-fails': '1' } });
}
