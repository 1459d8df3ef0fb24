// The package hpagent, with a connection that is kept.
import { get } from 'node:https';
import { HttpsProxyAgent } from 'hpagent';
import { own } from '../program.mjs';
import { answered, startProxy, startSecureStock } from './proxy.mjs';

export const expected = `
own caller
  client CONNECT proxy 200
    server CONNECT (no route) -
  client GET stock 200
    server GET (no route) 200
  own after
`;
export const difference =
  'OpenTelemetry records neither the answer to CONNECT nor the proxy. Both are HTTP.';
export const nodes = 24;

export async function run() {
  const stock = await startSecureStock();
  const proxy = await startProxy();
  const agent = new HttpsProxyAgent({ keepAlive: true, proxy: proxy.href });
  await own('caller', async () => {
    await answered(get(`${stock}/items`, { agent, rejectUnauthorized: false }));
    own('after');
  });
  agent.destroy?.();
}
