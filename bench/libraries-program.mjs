// Asks Redis for a value many times, 20 at once below one span, and prints the CPU time of one command in
// microseconds. Arguments: the directory with ioredis, the number of commands, and `empty` for subscribers that
// do nothing on the channels that the hook uses.

import { subscribe } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { withSpan } from 'tracewright/spans';

const [, , place, count, subscribers] = process.argv;
if (subscribers === 'empty') {
  for (const event of ['start', 'end', 'asyncEnd']) {
    subscribe(`tracing:ioredis:command:${event}`, () => {});
  }
}
const Redis = createRequire(join(place, 'package.json'))('ioredis');
const TOGETHER = 20;
const redis = new Redis();

async function ask(commands) {
  for (let i = 0; i < commands; i += TOGETHER) {
    await withSpan('request', undefined, () =>
      Promise.all(Array.from({ length: TOGETHER }, () => redis.get('tracewright-bench'))),
    );
  }
}

await ask(Number(count));
const before = process.cpuUsage();
await ask(Number(count));
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${(user + system) / Number(count)}\n`);
redis.disconnect();
