// Records requests as one of the modes of bench/keep.mjs does, and prints what each of them costs: bytes on the disk, and
// us of CPU of all threads. Started with a channel to its parent it waits there for each step, so that the parent can
// count instructions.
//
//   node bench/keep-program.mjs TARGET COUNT OPTIONS

import { once } from 'node:events';
import { statSync } from 'node:fs';
import { configure, flush, startSpan } from 'tracewright/spans';

const [, , target, count, options] = process.argv;
const IN_FLIGHT = 200;
const CHILDREN = 4;
const SLOW_CHILDREN = 5 * (CHILDREN + 1) - 1;
/** Far more than any other takes, also where instructions are counted. */
const SLOW_MS = 60_000;
/** A turn of the event loop ends after so many requests, as in a service. */
const A_TURN = 50;

/** @param {number} n */
function begin(n) {
  const isSlow = n % 100 === 7;
  const startTime = isSlow ? Date.now() - SLOW_MS : undefined;
  const attributes = { 'http.request.method': 'GET', 'http.route': '/orders/:id', n };
  const root = startSpan('GET /orders/:id', attributes, { kind: 'server', startTime });
  const children = isSlow ? SLOW_CHILDREN : CHILDREN;
  for (let i = 0; i < children; i++) {
    const child = startSpan(
      'SELECT orders',
      { 'db.system.name': 'postgresql', 'server.address': '127.0.0.1', 'server.port': 5432 },
      { kind: 'client', parent: root },
    );
    child.end();
  }
  return { root, isFailed: n % 200 === 13 };
}

/** @param {{ root: import('tracewright/spans').Span, isFailed: boolean }} request */
function end({ root, isFailed }) {
  root.set('http.response.status_code', isFailed ? 500 : 200);
  if (isFailed) root.fail(new Error('out of stock'));
  root.end();
}

async function record(/** @type {number} */ requests) {
  const open = [];
  for (let n = 0; n < requests; n++) {
    open.push(begin(n));
    if (open.length > IN_FLIGHT) end(open.shift());
    if (n % A_TURN === 0) await new Promise(setImmediate);
  }
  for (const each of open) end(each);
  await flush();
}

configure({ target, ...JSON.parse(options) });
// V8 compiles what is used often, and goes on for some hundred thousand spans.
await record(Math.max(Number(count), 40_000));
if (process.send !== undefined) {
  process.send('warm');
  for (;;) {
    const [step] = await once(process, 'message');
    if (step === 'end') break;
    await record(Number(count));
    process.send('recorded');
  }
  process.disconnect();
}
const [bytes, cpu] = [statSync(target).size, process.cpuUsage()];
await record(Number(count));
const { user, system } = process.cpuUsage(cpu);
console.log(
  JSON.stringify({ us: (user + system) / count, bytes: (statSync(target).size - bytes) / count }),
);
