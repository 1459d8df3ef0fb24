// A script that is defined as a command, and a pipeline with callbacks: two requests on one connection.
import Redis from 'ioredis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own request 1
  client redis EVALSHA
  client redis EVALSHA
  own after 1
own request 2
  client redis GET
  client redis TTL
  own after 2
  own first of 2
`;
export const difference = 'OpenTelemetry names each command of a pipeline after the pipeline.';

export async function run() {
  const redis = new Redis();
  await redis.ping();
  redis.defineCommand('double', { numberOfKeys: 1, lua: 'return tonumber(ARGV[1]) * 2' });
  const key = `programs:${process.pid}`;
  // The script is known from here on.
  await redis.double(key, 1);
  await Promise.all([
    own('request 1', async () => {
      await redis.double(key, 2);
      await redis.double(key, 3);
      own('after 1');
    }),
    own(
      'request 2',
      () =>
        new Promise((resolve) => {
          redis
            .pipeline()
            .get(key, () => own('first of 2'))
            .ttl(key)
            .exec(() => {
              own('after 2');
              resolve();
            });
        }),
    ),
  ]);
  redis.disconnect();
}
