// agentkeepalive: both requests on a connection that is kept.
import { request } from 'node:http';
import { once } from 'node:events';
import Agent from 'agentkeepalive';
import { own } from '../program.mjs';
import { startStock } from './stock.mjs';

export const expected = `
own caller
  client GET stock 404 !404
    server GET (no route) 404
      own serve /missing
  client POST stock 200
    server POST (no route) 200
      own serve /items
  own after
`;

export async function run() {
  const url = await startStock();
  await own('caller', async () => {
    const agent = new Agent();
    const send = async (path, options) => {
      const sent = request(`${url}${path}`, { agent, ...options });
      sent.end();
      const [answer] = await once(sent, 'response');
      await answer.toArray();
    };
    await send('/items', { method: 'POST' });
    await send('/missing');
    agent.destroy();
    own('after');
  });
}
