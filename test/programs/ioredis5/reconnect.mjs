// The server ends the connection: ioredis connects again, for no request.
import Redis from 'ioredis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own ready again
own request 1
  client redis CLIENT
own request 2
  client redis CLIENT
own request 3
  client redis GET
`;
export const difference =
  'OpenTelemetry has the second handshake below the request that opened the first connection. It is of no request.';

export async function run() {
  const redis = new Redis({ lazyConnect: true });
  const other = new Redis({ enableReadyCheck: false });
  await other.ping();
  const id = await own('request 1', () => redis.client('ID'));
  const again = new Promise((resolve) => {
    redis.on('ready', () => {
      own('ready again');
      resolve();
    });
  });
  await own('request 2', () => other.client('KILL', 'ID', id));
  await again;
  await own('request 3', () => redis.get(`programs:${process.pid}`));
  redis.disconnect();
  other.disconnect();
}
