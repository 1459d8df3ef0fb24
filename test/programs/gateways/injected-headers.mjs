// A program injects its headers itself, below one span, and calls below another: the service is below the call.
import { createServer, get } from 'node:http';
import { once } from 'node:events';
import { context, propagation } from '@opentelemetry/api';
import { listen, own } from '../program.mjs';

export const expected = `
own request
  client GET stock 200
    server GET (no route) 200
  client GET stock 200
    server GET (no route) 200
  own prepare
`;
export const difference =
  'OpenTelemetry sends two headers by fetch, so the receiver takes none. Its own of node:http replaces the other.';

export async function run() {
  const stock = await listen(
    createServer((_, response) => response.end()),
    'stock',
  );
  await own('request', async () => {
    const headers = {};
    own('prepare', () => propagation.inject(context.active(), headers));
    await (await fetch(stock, { headers })).text();
    const [response] = await once(get(stock, { headers }), 'response');
    response.resume();
    await once(response, 'close');
  });
}
