// Two requests share a connection to Memcached, which the first has opened.
import net from 'node:net';
import Memcached from 'memcached';
import { listen, own } from '../program.mjs';

export const expected = `
own request 1
  own got 1
  own set 1
own request 2
  own got 2
  own set 2
`;
export const difference =
  'OpenTelemetry has callbacks below the request that opened the connection. The request that asked is right.';

/** As much of the protocol as is asked here. */
const ANSWERS = { get: 'END', set: 'STORED' };

export async function run() {
  const server = net.createServer((socket) => {
    socket.on('data', (data) => {
      for (const [command] of String(data).matchAll(/^(?:get|set)\b/gm)) {
        setTimeout(() => socket.write(`${ANSWERS[command]}\r\n`), 5);
      }
    });
  });
  await listen(server);
  let client;
  const request = (n) =>
    own(`request ${n}`, async () => {
      client ??= new Memcached(`127.0.0.1:${server.address().port}`, { poolSize: 1 });
      await new Promise((resolve) => {
        client.set('key', 'value', 10, () => {
          own(`set ${n}`);
          resolve();
        });
      });
      await new Promise((resolve) => {
        client.get('key', () => {
          own(`got ${n}`);
          resolve();
        });
      });
    });
  await Promise.all([request(1), request(2)]);
  client.end();
}
