// A transaction is a span with its commands below it.
import Redis from 'ioredis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own request
  client redis MULTI
    client redis EXEC
    client redis GET
    client redis MULTI
  own after
`;
export const difference =
  'OpenTelemetry names the commands within MULTI, and has no span of the whole.';

export async function run() {
  const redis = new Redis();
  await redis.ping();
  await own('request', async () => {
    await redis.multi().get(`programs:${process.pid}`).exec();
    own('after');
  });
  redis.disconnect();
}
