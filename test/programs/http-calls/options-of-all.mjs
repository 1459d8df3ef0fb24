// node:http: OPTIONS * calls the server itself.
import { once } from 'node:events';
import { request } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own caller
  client OPTIONS stock 200
`;

export async function run() {
  const { port } = new URL(await otherProcess('stock'));
  await own('caller', async () => {
    const sent = request({ method: 'OPTIONS', host: '127.0.0.1', port, path: '*' });
    sent.end();
    const [answer] = await once(sent, 'response');
    await answer.toArray();
  });
}
