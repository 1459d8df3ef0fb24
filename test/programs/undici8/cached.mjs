// A request that the cache answers is no call.
import { Agent, interceptors } from 'undici';
import { createServer } from 'node:http';
import { listen, own } from '../program.mjs';

export const expected = `
own first
  client GET stock 200
    server GET (no route) 200
  own after 3
own second
  own after 3
`;
export const nodes = 22;

export async function run() {
  const stock = await listen(
    createServer((_, response) => {
      response.setHeader('cache-control', 'max-age=60');
      response.end('3');
    }),
    'stock',
  );
  const agent = new Agent().compose(interceptors.cache());
  for (const name of ['first', 'second']) {
    await own(name, async () => {
      const { body } = await agent.request({ origin: stock, path: '/', method: 'GET' });
      own(`after ${await body.text()}`);
    });
  }
  await agent.close();
}
