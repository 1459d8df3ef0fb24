// The caller of a gateway leaves within the body, so `pipeline` gives the call to the next service up.
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { pipeline } from 'node:stream';
import { ask, listen, otherProcess, until } from '../program.mjs';

export const expected = `
server GET (no route) 200 !aborted
  client GET stock 200
`;
export const difference =
  'OpenTelemetry reports an error: the program has given the call up itself, so nothing has failed.';

export async function run() {
  const stock = await otherProcess('stock', { '/': { body: 'x'.repeat(2e7) } });
  let isOver = false;
  const gateway = await listen(
    createServer(async (_, response) => {
      const [answer] = await once(get(stock), 'response');
      response.writeHead(200);
      pipeline(answer, response, () => (isOver = true));
    }),
  );
  await ask(gateway, { abortAfter: 'headers' });
  await until(() => isOver);
}
