// A blocking command that ends because the program disconnects.
import Redis from 'ioredis';
import { own, until } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own request
  client redis BLPOP !Error
  own after
`;

export async function run() {
  const redis = new Redis();
  await redis.ping();
  const request = own('request', async () => {
    await redis.blpop(`programs:list:${process.pid}`, 60).catch(() => own('after'));
  });
  await until(() => redis.commandQueue?.length === 1);
  redis.disconnect();
  await request;
}
