// The package tunnel: its CONNECT ends when the tunnel does.
import { get } from 'node:http';
import tunnel from 'tunnel';
import { own } from '../program.mjs';
import { answered, startProxy, startStock } from './proxy.mjs';

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
  const stock = await startStock();
  const proxy = await startProxy();
  const agent = tunnel.httpOverHttp({ proxy: { host: proxy.hostname, port: proxy.port } });
  await own('caller', async () => {
    await answered(get(`${stock}/items`, { agent }));
    own('after');
  });
  agent.destroy?.();
}
