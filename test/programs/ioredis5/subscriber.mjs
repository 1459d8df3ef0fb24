// Messages come on a connection that some request has opened: they are of none.
import Redis from 'ioredis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own message
own request 1
  client redis SUBSCRIBE
own request 2
  client redis PUBLISH
`;
export const difference =
  'OpenTelemetry has every message below the request that opened the connection. They are of no request.';

export async function run() {
  const subscriber = new Redis({ lazyConnect: true });
  const redis = new Redis();
  await redis.ping();
  const channel = `programs:${process.pid}`;
  const message = new Promise((resolve) => {
    subscriber.on('message', () => {
      own('message');
      resolve();
    });
  });
  await own('request 1', () => subscriber.subscribe(channel));
  await own('request 2', () => redis.publish(channel, 'hello'));
  await message;
  subscriber.disconnect();
  redis.disconnect();
}
