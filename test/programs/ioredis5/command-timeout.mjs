// github.com/open-telemetry/opentelemetry-js-contrib/issues/2874: a command that ends twice, by its timeout and its reply.
import Redis from 'ioredis';
import { own, until } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own request
  client redis BLPOP !timeout
  own after
`;

export async function run() {
  const redis = new Redis({ enableReadyCheck: false, commandTimeout: 500 });
  let failed = false;
  await own('request', async () => {
    // Redis answers after the timeout.
    await redis.blpop(`programs:list:${process.pid}`, 1).catch(() => {
      failed = true;
      own('after');
    });
  });
  await until(() => failed);
  redis.disconnect();
}
