// 500,000 ovni events a second for a long time, half of them from workers that come and go: memory
// must stay flat and nothing may be lost. Another process reads the streams back, for what reading takes
// is not the memory of a service that is traced.
//
//   npm run soak -- --minutes 10

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { addCpu, event, procInit, readStream, threadFree, threadInit } from 'tracewright/ovni';
import { openDescriptors } from './open-descriptors.mjs';
import { readOptions } from './options.mjs';

const EVENTS_A_SECOND = 250_000;
const WORKER_SECONDS = 2;
const STEP_MS = 10;
const SCRIPT = fileURLToPath(import.meta.url);

/**
 * Writes at the agreed rate until `until` (ms of `performance.now`), after what the streams before it
 * have left to write; resolves to how many.
 */
async function write(until, behind = 0) {
  const numbered = event('OB.(u32 n)');
  const from = performance.now();
  let n = 0;
  for (let now = from; now < until; now = performance.now()) {
    const due = behind + ((now - from) * EVENTS_A_SECOND) / 1000;
    while (n < due) numbered(n++);
    await delay(STEP_MS);
  }
  return n;
}

/** How many events of a stream are numbered on from 0; -1 where a number is missing. */
function numbersOf(path) {
  let n = 0;
  for (const { mcv, payload } of readStream(path, { version: 3 })) {
    if (mcv !== 'OB.') continue;
    if (new DataView(payload.buffer, payload.byteOffset).getUint32(0, true) !== n) return -1;
    n++;
  }
  return n;
}

/** Resolves to `numbersOf` of a process of its own. */
async function numbersElsewhere(path) {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, '--count', path]);
  return Number(stdout);
}

async function soak(minutes) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-soak-'));
  try {
    const { procDir } = procInit(1, 'node.1', 1, { traceDir: join(directory, 'ovni'), version: 3 });
    threadInit(1);
    addCpu(0, 0);
    event('OHx')(-1, 1, 0);
    const begin = performance.now();
    const end = begin + minutes * 60_000;
    const main = write(end);
    let [workers, written, missing] = [0, 0, 0];
    // One after another, while the next workers write.
    let reading = Promise.resolve();
    process.stdout.write('minute  RSS MiB  descriptors  workers      events  missing\n');
    for (let tid = 2; performance.now() < end; tid++) {
      // While one ends and the next begins, nobody writes.
      const behind = ((performance.now() - begin) * EVENTS_A_SECOND) / 1000 - written;
      const worker = new Worker(SCRIPT, { workerData: { tid, behind } });
      // Its exit may follow on its message at once.
      const [[count]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
      workers++;
      written += count;
      reading = reading.then(async () => {
        const thread = join(procDir, `thread.${tid}`);
        if ((await numbersElsewhere(join(thread, 'stream.obs'))) !== count) missing++;
        rmSync(thread, { recursive: true });
      });
      const minute = (minutes - (end - performance.now()) / 60_000).toFixed(1);
      const memory = (process.memoryUsage().rss / 2 ** 20).toFixed(0);
      const descriptors = openDescriptors().length;
      process.stdout.write(
        `${minute.padStart(6)}${memory.padStart(9)}${String(descriptors).padStart(13)}` +
          `${String(workers).padStart(9)}${String(written).padStart(12)}${String(missing).padStart(9)}\n`,
      );
    }
    const count = await main;
    const rate = (written + count) / ((performance.now() - begin) / 1000);
    await reading;
    threadFree();
    if ((await numbersElsewhere(join(procDir, 'thread.1/stream.obs'))) !== count) missing++;
    process.stdout.write(
      `${written + count} events, ${Math.round(rate)} a second, in ${workers + 1} streams, ` +
        `${missing} with something missing\n`,
    );
    process.exitCode = missing === 0 ? 0 : 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const USAGE = `usage: npm run soak -- [options]

  --minutes N  how long to write (10)
  --help       this text
`;

if (isMainThread) {
  const values = readOptions(
    USAGE,
    {
      minutes: { type: 'string', default: '10' },
      // Only for the process that reads: see numbersElsewhere.
      count: { type: 'string' },
    },
    ({ minutes }) =>
      Number(minutes) > 0 ? undefined : `--minutes must be a number above 0, got ${minutes}`,
  );
  if (values.count === undefined) await soak(Number(values.minutes));
  else process.stdout.write(String(numbersOf(values.count)));
} else {
  threadInit(workerData.tid);
  event('OHx')(-1, workerData.tid, 0);
  const count = await write(performance.now() + WORKER_SECONDS * 1000, workerData.behind);
  threadFree();
  parentPort.postMessage(count);
}
