// What Node's TracingChannel and AsyncLocalStorage cost by themselves: it uses nothing but Node. It prints nanoseconds
// and bytes of a call, in JSON. Start it with --expose-gc and a young generation of 128 MB, so that none of the counted
// bytes are collected.

import { AsyncLocalStorage } from 'node:async_hooks';
import { channel, tracingChannel } from 'node:diagnostics_channel';
import { getHeapSpaceStatistics } from 'node:v8';

const WARM_UP = 20_000;
const CALLS = 20_000;
const ROUNDS = 15;

const nothing = () => undefined;
const store = { id: 1 };
let sum = 0;

const work = (value) => {
  sum += value;
  return value;
};
const workBack = (callback) => callback(null, 1);
const whenBack = (error, value) => {
  sum += value;
};
const promised = Promise.resolve(1);
const workLater = () => promised;

/** A tracing channel with subscribers that do nothing, and with stores. */
function tracing(name, isSubscribed, stores = 0) {
  const own = tracingChannel(name);
  if (isSubscribed) {
    for (const event of ['start', 'end', 'asyncStart', 'asyncEnd']) {
      channel(`tracing:${name}:${event}`).subscribe(nothing);
    }
  }
  for (let i = 0; i < stores; i++) {
    const storage = new AsyncLocalStorage();
    own.start.bindStore(storage, () => store);
    own.asyncStart.bindStore(storage, () => store);
  }
  return own;
}

const one = new AsyncLocalStorage();
const others = [new AsyncLocalStorage(), new AsyncLocalStorage()];
const idle = tracing('bench:idle', false);
const watched = tracing('bench:watched', true);
const stored = tracing('bench:stored', true, 1);

/** Before a storage has run anything: on Node 26 there is always a context after that. */
const first = { queueMicrotask: () => globalThis.queueMicrotask(nothing) };
/** Each gets a message of its own, as libraries make one for each call. */
const ways = {
  'a function': (i) => work(i),
  'AsyncLocalStorage.run': (i) => one.run(store, work, i),
  'the same within two other storages': (i) => one.run(store, work, i),
  'traceSync, nobody subscribes': (i) => idle.traceSync(work, { i }, undefined, i),
  'traceSync, subscribers that do nothing': (i) => watched.traceSync(work, { i }, undefined, i),
  'traceSync, and a store': (i) => stored.traceSync(work, { i }, undefined, i),
  'a function with a callback': () => workBack(whenBack),
  'traceCallback, nobody subscribes': (i) => idle.traceCallback(workBack, 0, { i }, null, whenBack),
  'traceCallback, subscribers that do nothing': (i) =>
    watched.traceCallback(workBack, 0, { i }, null, whenBack),
  'traceCallback, and a store': (i) => stored.traceCallback(workBack, 0, { i }, null, whenBack),
  'a function with a promise': () => workLater(),
  'tracePromise, nobody subscribes': (i) => idle.tracePromise(workLater, { i }),
  'tracePromise, subscribers that do nothing': (i) => watched.tracePromise(workLater, { i }),
  'tracePromise, and a store': (i) => stored.tracePromise(workLater, { i }),
  'queueMicrotask within a storage': () => globalThis.queueMicrotask(nothing),
  'then of a promise within a storage': () => promised.then(nothing),
};

const young = () =>
  getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name.startsWith('new'))
    .reduce((bytes, { space_used_size: used }) => bytes + used, 0);

/** What a promise starts is a part of its cost. */
async function measure(way) {
  globalThis.gc();
  const bytesFrom = young();
  const from = process.hrtime.bigint();
  let last;
  for (let i = 0; i < CALLS; i++) last = way(i);
  await last;
  const ns = Number(process.hrtime.bigint() - from) / CALLS;
  return { ns, bytes: (young() - bytesFrom) / CALLS };
}

/** In the storages that the name says. */
function measureWithin(name, way) {
  if (name.includes('two other storages')) {
    return others[0].run(store, () => others[1].run(store, measure, way));
  }
  return name.includes('within a storage') ? one.run(store, measure, way) : measure(way);
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const found = {};
async function measureAll(of) {
  for (let round = -Math.ceil(WARM_UP / CALLS) - 1; round < ROUNDS; round++) {
    for (const [name, way] of Object.entries(of)) {
      const figure = await measureWithin(name, way);
      if (round >= 0) (found[name] ??= []).push(figure);
    }
  }
}
await measureAll(first);
await measureAll(ways);
const rows = Object.entries(found).map(([name, figures]) => ({
  name,
  ns: median(figures.map(({ ns }) => ns)),
  bytes: median(figures.map(({ bytes }) => bytes)),
}));
process.stdout.write(`${JSON.stringify(rows)}\n`);
if (sum < 0) process.exit(1);
