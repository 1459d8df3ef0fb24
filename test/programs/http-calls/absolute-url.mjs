// node:http: a URL in absolute form, through a proxy: called is its origin.
import { once } from 'node:events';
import { request } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own caller
  client GET shop.example:80 200
`;
export const difference = 'OpenTelemetry has the proxy. Who is called is shop.example.';

export async function run() {
  const { port } = new URL(await otherProcess('proxy'));
  await own('caller', async () => {
    const headers = { Host: 'shop.example' };
    const sent = request({ host: '127.0.0.1', port, path: 'http://shop.example/items', headers });
    sent.end();
    const [answer] = await once(sent, 'response');
    await answer.toArray();
  });
}
