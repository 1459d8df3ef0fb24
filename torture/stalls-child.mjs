// Blocks its event loops for some milliseconds at a time, in every way, while workers are terminated, code in contexts
// runs into timeouts, an inspector debugs and profiles, and garbage is collected. Prints a line each second.

import { createServer } from 'node:http';
import inspector from 'node:inspector';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import vm from 'node:vm';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { startSpan } from 'tracewright/spans';

const WORKERS = 3;
/** Workers that block by waiting: they need no processor, so they are asked 1,000 times a second. */
const WAITING = 24;
const text = JSON.stringify(Array.from({ length: 8000 }, (_, i) => ({ i, text: 'x'.repeat(9) })));

function spin(ms) {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

function deep(levels) {
  if (levels > 0) deep(levels - 1);
  else spin(3);
}

const ways = [
  () => spin(4),
  () => deep(200),
  () => JSON.parse(text),
  () => Array.from({ length: 6000 }, Math.random).sort((a, b) => a - b),
  () => /^(a+)+$/.test(`${'a'.repeat(17)}!`),
  () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3),
  () => globalThis.gc?.({ type: 'minor' }),
  () => globalThis.gc?.(),
  () => {
    try {
      vm.runInNewContext('for (;;) Math.sqrt(2);', {}, { timeout: 3 });
    } catch {
      // It has run into its timeout.
    }
  },
];

async function blockForEver() {
  for (let i = 0; ; i++) {
    ways[i % ways.length]();
    await nextTurn();
  }
}

async function waitForEver() {
  const word = new Int32Array(new SharedArrayBuffer(4));
  // A loop that sleeps without one rests.
  startSpan('waits for ever');
  for (;;) {
    Atomics.wait(word, 0, 0, 8);
    await nextTurn();
  }
}

async function inspectForEver() {
  for (;;) {
    const session = new inspector.Session();
    session.connect();
    const post = (method, parameters) =>
      new Promise((resolve) => session.post(method, parameters, resolve));
    await post('Debugger.enable');
    await post('Profiler.enable');
    await post('Profiler.setSamplingInterval', { interval: 1000 });
    await post('Profiler.start');
    await pause(150);
    await post('Profiler.stop');
    session.disconnect();
    await pause(50);
  }
}

async function endWorkers() {
  const begin = (workerData) =>
    new Worker(new URL(import.meta.url), { workerData }).on('error', fail);
  for (let i = 0; i < WAITING; i++) begin(waitForEver.name);
  const workers = Array.from({ length: WORKERS }, () => begin(blockForEver.name));
  for (let i = 0; ; i = (i + 1) % WORKERS) {
    await pause(700);
    await workers[i].terminate();
    workers[i] = begin(blockForEver.name);
  }
}

function fail(error) {
  console.error(error);
  process.exit(1);
}

async function serve() {
  const server = createServer((request, response) => {
    spin(2);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  // A blocked loop may close a connection as idle that was just used again.
  const ask = async () => (await fetch(url)).text();
  for (;;) await Promise.allSettled([ask(), ask(), ask()]);
}

if (isMainThread) {
  setInterval(() => console.log('lives'), 1000);
  await Promise.all([blockForEver(), inspectForEver(), endWorkers(), serve()]).catch(fail);
} else {
  await (workerData === waitForEver.name ? waitForEver() : blockForEver());
}
