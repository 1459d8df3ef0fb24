// A share of all is kept by the trace id, which a caller chooses here: with the failed ones, and none else.
import { createServer } from 'node:http';
import { ask, listen, otherProcess } from '../program.mjs';

export const expected = `
(remote) server GET (no route) 200
  client GET stock 200
(remote) server POST (no route) 500 !500
  client GET stock 200
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'errors,ratio:0.5' };

export async function run() {
  const stock = await otherProcess('stock');
  const url = await listen(
    createServer(async ({ method }, response) => {
      const { tracestate = '' } = await (await fetch(stock)).json();
      const isShare = tracestate.includes('ot=th:8');
      if (isShare !== (method === 'GET')) throw new Error(`${method} sent ${tracestate}`);
      response.statusCode = method === 'POST' ? 500 : 200;
      response.end();
    }),
  );
  const askFor = (method, digit) =>
    ask(url, {
      method,
      headers: { traceparent: `00-${digit.repeat(32)}-b7ad6b7169203331-01` },
    });
  await askFor('GET', 'f');
  await askFor('PUT', '1');
  await askFor('POST', '2');
}
