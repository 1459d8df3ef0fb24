// Makes many calls of one library, 20 at once below one span, and prints the CPU time of one of them in microseconds.
// Arguments: the directory with the packages, the library, the number of calls, the port that fetch asks, and `empty`
// for subscribers that do nothing on the channels of ioredis that the hook uses, or `context` for what Node alone takes:
// a constant in AsyncLocalStorage, and subscribers that do nothing on the channels of fetch.

import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { withSpan } from 'tracewright/spans';

const [, , place, library, count, port, subscribers] = process.argv;
if (subscribers === 'empty') {
  for (const event of ['start', 'end', 'asyncEnd']) {
    subscribe(`tracing:ioredis:command:${event}`, () => {});
  }
}
const storage = new AsyncLocalStorage();
const ACTIVE = {};
if (subscribers === 'context') {
  const events = ['request:create', 'client:sendHeaders', 'request:headers', 'request:trailers'];
  for (const event of events) subscribe(`undici:${event}`, () => {});
}
/** @param {() => Promise<unknown>} ask what is asked below one span. */
const together =
  subscribers === 'context'
    ? (ask) => storage.run(ACTIVE, ask)
    : (ask) => withSpan('request', undefined, ask);
const require = createRequire(join(place, 'package.json'));
const TOGETHER = 20;

/** What makes a call of each. */
const calls = {
  ioredis() {
    const Redis = require('ioredis');
    const redis = new Redis();
    return () => redis.get('tracewright-bench');
  },
  async redis() {
    const redis = await require('redis').createClient().connect();
    return () => redis.get('tracewright-bench');
  },
  async pg() {
    const { Client } = require('pg');
    const user = { user: 'postgres', database: 'postgres', password: 'secret' };
    const client = new Client({ host: '127.0.0.1', ...user });
    await client.connect();
    return () => client.query('SELECT 1 AS id');
  },
  async mysql2() {
    const server = { host: '127.0.0.1', user: 'root', database: 'test' };
    const connection = await require('mysql2/promise').createConnection(server);
    return () => connection.query('SELECT 1 AS id');
  },
  fetch: () => async () => (await fetch(`http://127.0.0.1:${port}/stock/7`)).text(),
};

async function ask(call, times) {
  for (let i = 0; i < times; i += TOGETHER) {
    await together(() => Promise.all(Array.from({ length: TOGETHER }, () => call())));
  }
}

const call = await calls[library]();
await ask(call, Number(count));
const before = process.cpuUsage();
await ask(call, Number(count));
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${(user + system) / Number(count)}\n`, () => process.exit(0));
