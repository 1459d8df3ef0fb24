// Writes numbered events from several threads to a Heph trace that rotates. Each thread writes its share,
// and waits while the reader has not deleted enough pieces. The last one is slow: its ring holds events for a while.
//
//   node torture/living/heph-child.mjs '{"target": PATH, "shares": [N, ...], ...}'

import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { openTrace } from 'tracewright/heph';

const order = isMainThread ? JSON.parse(process.argv[2]) : workerData;
const { target, shares, thread = 0, ringBytes, rotateBytes, mostPieces, first } = order;

/** Events between two looks at the directory. */
const TURN = 50_000;

if (isMainThread) {
  for (let each = 1; each < shares.length; each++) {
    new Worker(new URL(import.meta.url), { workerData: { ...order, thread: each } });
  }
}

// Rings of several sizes: the small ones are overtaken most.
const trace = openTrace(target, { ringBytes: ringBytes >> (2 * thread), rotateBytes });
const stream = trace.stream(thread);
// Counters wrap while the reader joins by them.
stream.counter[0] = first;
const span = stream.span('e', { n: 'u64' });
const pause = new Int32Array(new SharedArrayBuffer(4));

let began = performance.now();
let spent = 0;
const isSlow = thread === shares.length - 1;
for (let n = 0; n < shares[thread]; n++) {
  span.finish(stream.startTrace(), n);
  if (isSlow && n % 1000 === 0) Atomics.wait(pause, 0, 0, 1);
  if ((n + 1) % TURN !== 0) continue;
  spent += performance.now() - began;
  while (readdirSync(dirname(target)).filter((name) => name[0] !== '.').length > mostPieces) {
    Atomics.wait(pause, 0, 0, 2);
  }
  began = performance.now();
}
const { dropped } = trace.stats();
await trace.close();
console.log(JSON.stringify({ thread, ms: spent, dropped: dropped.events }));
