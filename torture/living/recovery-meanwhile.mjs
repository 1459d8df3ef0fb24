// Reads a trace again and again while another thread recovers it.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

const RECOVERER = `
  const { parentPort, workerData } = require('node:worker_threads');
  import(workerData.module).then((module) => {
    parentPort.once('message', () => {
      const recoveries = [module[workerData.name](...workerData.values)].flat();
      parentPort.postMessage(recoveries.flatMap(({ faults }) => faults.map(String)));
    });
    parentPort.postMessage('ready');
  });
`;

/**
 * Reads until the recovery has ended, and twice after it. Each reading must find what was read before.
 *
 * @param recover a function of a module: its `module` URL, its `name`, the `values` it is called with.
 *   It returns one recovery, or a list of them.
 * @param before what was read before the recovery.
 * @returns how many readings there were.
 */
export async function readDuringRecovery(recover, before, read) {
  const recovery = new Worker(RECOVERER, { eval: true, workerData: recover });
  await once(recovery, 'message');
  let faults;
  recovery.once('message', (found) => (faults = found));
  recovery.postMessage('recover');
  const expected = JSON.stringify(before);
  let readings = 0;
  for (let after = 0; after < 2; readings++) {
    if (faults !== undefined) after++;
    const found = JSON.stringify(await read());
    if (found !== expected) throw new Error(`${expected} before, ${found} during the recovery`);
    // The thread's message is received meanwhile.
    await sleep(0);
  }
  await recovery.terminate();
  if (faults.length > 0) throw new Error(faults[0]);
  return readings;
}
