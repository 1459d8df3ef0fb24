// A worker of torture/keep-requests-child.mjs: records a part of each request that it is sent.

import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { configure, extract, shutdown, withSpan } from 'tracewright/spans';
import { KEEP } from './keep-rules.mjs';

const { target, role } = workerData;
configure({ target, service: 'torture', keep: KEEP });
const asleep = new Int32Array(new SharedArrayBuffer(4));
let requests = 0;

async function work({ id, headers, fails }) {
  try {
    const parent = extract(headers);
    await withSpan(
      'part',
      {},
      async () => {
        await withSpan('operation 1', {}, () => undefined);
        if (fails) throw new Error('torture');
      },
      { parent, kind: 'consumer' },
    );
  } catch {
    // As it was meant to.
  }
  parentPort.postMessage({ id, spans: 2 });
  // What it holds of the request is undecided.
  if (role === 'blocked' && requests++ % 20 === 0) Atomics.wait(asleep, 0, 0, 300);
}

parentPort.on('message', async (message) => {
  if (message !== 'end') {
    await work(message);
    return;
  }
  // What other threads decide arrives.
  await sleep(100);
  await shutdown();
  parentPort.close();
});
