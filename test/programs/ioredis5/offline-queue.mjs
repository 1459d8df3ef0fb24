// Commands that wait for a connection, which another request opens.
import Redis from 'ioredis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own request 1
  client redis GET
  own after 1
own request 2
  client redis GET
  own after 2
`;
export const difference =
  'OpenTelemetry has each waiting command twice, the second time below who opened the connection. One command a request is right.';

export async function run() {
  const redis = new Redis({ lazyConnect: true });
  const request = (n) =>
    own(`request ${n}`, async () => {
      await redis.get(`programs:${process.pid}`);
      own(`after ${n}`);
    });
  await Promise.all([request(1), request(2)]);
  redis.disconnect();
}
