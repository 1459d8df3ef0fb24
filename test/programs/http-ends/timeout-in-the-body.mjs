// The peer stalls within the body; the event `timeout` gives the request up.
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { listen, own } from '../program.mjs';

export const expected = `
own call
  client GET stock 200 !timeout
    server GET (no route) 200 !aborted
  own after
`;
export const difference =
  'OpenTelemetry ends the client span at the headers of a response that is cut, without an error.';

export async function run() {
  const stock = await listen(
    createServer((_, response) => {
      response.write('a part');
    }),
    'stock',
  );
  await own('call', async () => {
    const request = get(stock);
    const [response] = await once(request, 'response');
    response.on('error', () => {});
    request.setTimeout(30, () => request.destroy());
    response.resume();
    await new Promise((resolve) => response.once('close', resolve));
    own('after');
  });
}
