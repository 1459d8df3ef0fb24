// `errors:any`: a part has failed, so the request is kept, and what it calls from then on is asked to keep it.
import { createServer } from 'node:http';
import { ask, listen, otherProcess, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  client GET stock 200
  own asks to keep
  own part !error
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'errors:any' };

export async function run() {
  const stock = await otherProcess('stock');
  const url = await listen(
    createServer(async (request, response) => {
      if (request.headers['x-fails'] !== undefined) {
        await own('part', async () => {
          throw new Error('part');
        }).catch(() => undefined);
      }
      const { tracestate = '' } = await (await fetch(stock)).json();
      if (tracestate.includes('keep:')) own('asks to keep');
      response.end();
    }),
  );
  await ask(url);
  await ask(url, { headers: { 'x-fails': '1' } });
}
