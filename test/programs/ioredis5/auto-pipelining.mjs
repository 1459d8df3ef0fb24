// Commands of several requests that ioredis sends as one pipeline.
import Redis from 'ioredis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own open
own request 1
  client redis GET
  own after 1
own request 2
  client redis SET
  own after 2
own request 3
  client redis GET
  own after 3
`;
export const difference =
  'OpenTelemetry has no commands in a pipeline that ioredis makes, and those of the handshake. The three commands are right.';

export async function run() {
  const redis = new Redis({ enableAutoPipelining: true, lazyConnect: true });
  await own('open', () => redis.connect());
  const key = `programs:${process.pid}`;
  const request = (n, command) =>
    own(`request ${n}`, async () => {
      await command();
      own(`after ${n}`);
    });
  // The first command of the pipeline is of no request.
  const first = redis.get(key);
  await Promise.all([
    first,
    request(1, () => redis.get(key)),
    request(2, () => redis.set(key, 1, 'EX', 5)),
    request(3, () => redis.get(key, () => undefined)),
  ]);
  redis.disconnect();
}
