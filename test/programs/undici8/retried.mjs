// Each attempt of a retry is a call of its own, below who has asked.
import { Agent, interceptors } from 'undici';
import { createServer } from 'node:http';
import { listen, own } from '../program.mjs';

export const expected = `
own caller
  client GET stock 200
    server GET (no route) 200
  client GET stock 503 !503
    server GET (no route) 503 !503
  own after 200
`;
export const nodes = 22;

export async function run() {
  let asked = 0;
  const stock = await listen(
    createServer((_, response) => {
      response.statusCode = (asked += 1) === 1 ? 503 : 200;
      response.end('3');
    }),
    'stock',
  );
  const agent = new Agent().compose(interceptors.retry({ minTimeout: 1 }));
  await own('caller', async () => {
    const { statusCode, body } = await agent.request({ origin: stock, path: '/', method: 'GET' });
    await body.dump();
    own(`after ${statusCode}`);
  });
  await agent.close();
}
