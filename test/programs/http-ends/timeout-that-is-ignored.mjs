// The event `timeout` comes, and the program waits on: the answer counts.
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { listen, own, until } from '../program.mjs';

export const expected = `
own call
  client GET stock 200
    server GET (no route) 200
  own after
`;

export async function run() {
  let answer;
  const stock = await listen(
    createServer((_, response) => {
      answer = () => response.end('late');
    }),
    'stock',
  );
  await own('call', async () => {
    const request = get(stock, { timeout: 30 });
    request.on('timeout', () => until(() => answer !== undefined).then(() => answer()));
    const [response] = await once(request, 'response');
    response.resume();
    await new Promise((resolve) => response.once('close', resolve));
    own('after');
  });
}
