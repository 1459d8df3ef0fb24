// Heat spreading along a rod, computed by worker threads that know nothing of tracing. As MPI ranks:
//
//   TRACEWRIGHT_DUMPI_DIR=traces/rod node --import tracewright/dumpi/workers examples/mpi-ranks.mjs
//   npx tracewright check traces/rod

import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const WORKERS = 4;
const CELLS = 20_000;
const STEPS = 500;

/** One step of the heat equation, from `now` into `next`, with what the neighbours have at the ends. */
function step(now, next, left, right) {
  const last = now.length - 1;
  for (let i = 0; i <= last; i++) {
    const before = i === 0 ? left : now[i - 1];
    const after = i === last ? right : now[i + 1];
    next[i] = now[i] + 0.25 * (before - 2 * now[i] + after);
  }
}

if (isMainThread) {
  const workers = Array.from(
    { length: WORKERS },
    (_, part) => new Worker(new URL(import.meta.url), { workerData: { part } }),
  );
  // What each worker has at its two ends; the ends of the rod are kept hot and cold.
  let ends = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  for (let i = 0; i < STEPS; i++) {
    const answers = workers.map((worker) => once(worker, 'message'));
    workers.forEach((worker, part) => {
      const left = part === 0 ? 100 : ends[part - 1].right;
      const right = part === WORKERS - 1 ? 0 : ends[part + 1].left;
      worker.postMessage({ left, right });
    });
    ends = (await Promise.all(answers)).map(([answer]) => answer);
  }
  const parts = workers.map((worker) => once(worker, 'message'));
  for (const worker of workers) worker.postMessage('finish');
  const heat = (await Promise.all(parts)).reduce((sum, [part]) => sum + part.heat, 0);
  console.log(`${STEPS} steps of ${WORKERS} x ${CELLS} cells; heat in the rod: ${heat.toFixed(3)}`);
} else {
  let now = new Float64Array(CELLS).fill(workerData.part === 0 ? 50 : 0);
  let next = new Float64Array(CELLS);
  const ends = () => ({ left: now[0], right: now[CELLS - 1] });
  parentPort.on('message', (message) => {
    if (message === 'finish') {
      parentPort.postMessage({ heat: now.reduce((sum, cell) => sum + cell, 0) });
      parentPort.close();
      return;
    }
    step(now, next, message.left, message.right);
    [now, next] = [next, now];
    parentPort.postMessage(ends());
  });
  parentPort.postMessage(ends());
}
