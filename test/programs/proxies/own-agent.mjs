// Node's own agent with a proxy: it writes its CONNECT by itself, which is no request of node:http.
import { Agent, get } from 'node:https';
import { own } from '../program.mjs';
import { answered, startProxy, startSecureStock } from './proxy.mjs';

export const expected = `
own caller
  client GET stock 200
    server GET (no route) 200
  own after
server CONNECT (no route) -
`;
export const difference = 'OpenTelemetry does not record the CONNECT that the proxy gets.';
export const nodes = 24;

export async function run() {
  const stock = await startSecureStock();
  const proxy = await startProxy();
  const agent = new Agent({ proxyEnv: { https_proxy: proxy.href } });
  await own('caller', async () => {
    await answered(get(`${stock}/items`, { agent, rejectUnauthorized: false }));
    own('after');
  });
  agent.destroy?.();
}
