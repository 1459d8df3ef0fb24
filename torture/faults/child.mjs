// Records numbered events in one format, as its standard input says, a JSON line each: `["emit", 1000]`. It
// answers with a line when they are recorded, and ends with its input.
//
//   node torture/faults/child.mjs '{"format": ..., "place": ..., "options": {...}}'

import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { formatNamed } from './formats.mjs';

const order = isMainThread ? JSON.parse(process.argv[2]) : workerData.order;
const thread = isMainThread ? 0 : 1;
const { format, place, target, options } = order;
const trace = formatNamed(format).open(place, thread, options, target);
let n = isMainThread ? 0 : workerData.first;

function emit(count) {
  for (let i = 0; i < count; i++) trace.emit(n++);
  return { n };
}

const held = [];
let worker;
const commands = {
  emit,
  /** Opens files until there is no descriptor left. */
  exhaust() {
    try {
      for (;;) held.push(openSync('/dev/null'));
    } catch ({ code }) {
      return { code };
    }
  },
  release() {
    held.splice(0).forEach(closeSync);
    return {};
  },
  metadata() {
    try {
      trace.metadata();
      return {};
    } catch ({ code }) {
      return { code };
    }
  },
  /** A second thread that has its ring before the fault begins. */
  async worker() {
    worker = new Worker(new URL(import.meta.url), { workerData: { order, first: 1e6 } });
    await once(worker, 'message');
    return {};
  },
  async endWorker(count) {
    worker.postMessage(count);
    await once(worker, 'exit');
    return {};
  },
  stats: () => trace.stats(),
};

if (isMainThread) {
  process.on('warning', () => undefined);
  const say = (reply) => process.stdout.write(`${JSON.stringify(reply)}\n`);
  say({ open: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const [name, argument] = JSON.parse(line);
    say(await commands[name](argument));
  }
} else {
  parentPort.postMessage('open');
  const [count] = await once(parentPort, 'message');
  emit(count);
  parentPort.close();
}
