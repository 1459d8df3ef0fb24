// undici: a proxy gets the URL in absolute form: called is its origin.
import { ProxyAgent, request } from 'undici';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own caller
  client GET shop.example:80 200
`;
export const nodes = 22;

/** Its answer says which headers it has received. */
function check(body) {
  if (!/^00-[\da-f]{32}-[\da-f]{16}-0[13]$/.test(JSON.parse(body).traceparent))
    throw new Error(body);
}

export async function run() {
  const url = await otherProcess('stock');
  const dispatcher = new ProxyAgent({ uri: url, proxyTunnel: false });
  await own('caller', async () => {
    const { body } = await request('http://shop.example/items', { dispatcher });
    check(await body.text());
    await dispatcher.close();
  });
}
