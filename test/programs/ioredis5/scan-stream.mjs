// Keys read by a stream, on a connection that another request has opened.
import { once } from 'node:events';
import Redis from 'ioredis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own open
  client redis HSET
own request
  client redis HSCAN
  own data
  own end
`;
export const difference = 'OpenTelemetry has the command that waited twice, and the handshake.';

export async function run() {
  const redis = new Redis({ lazyConnect: true });
  const key = `programs:${process.pid}`;
  await own('open', () => redis.hset(key, 'field', 'value'));
  await own('request', () => {
    const stream = redis.hscanStream(key);
    stream.on('data', () => own('data'));
    stream.on('end', () => own('end'));
    return once(stream, 'close');
  });
  await redis.del(key);
  redis.disconnect();
}
