// A pipeline and a transaction of each of two requests, at once.
import Redis from 'ioredis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own request 1
  client redis GET
  client redis SET
  own after 1
own request 2
  client redis EXEC
  client redis GET
  client redis MULTI
  own after 2
`;
export const difference =
  'OpenTelemetry names commands of a pipeline PIPELINE or MULTI. Their own names are right.';

export async function run() {
  const redis = new Redis();
  await redis.ping();
  const key = `programs:${process.pid}`;
  await Promise.all([
    own('request 1', async () => {
      await redis.pipeline().set(key, 1, 'EX', 5).get(key).exec();
      own('after 1');
    }),
    own(
      'request 2',
      () =>
        new Promise((resolve) => {
          redis
            .multi()
            .get(key)
            .exec(() => {
              own('after 2');
              resolve();
            });
        }),
    ),
  ]);
  redis.disconnect();
}
