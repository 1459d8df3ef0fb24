// Thousands of workers that trace in every format, half of them terminated in the midst of it: what
// the process holds must not grow.
//
//   npm run torture -- --workers 10000

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { openRank } from 'tracewright/dumpi';
import { openTrace } from 'tracewright/heph';
import { openReferences } from 'tracewright/laplace';
import * as ovni from 'tracewright/ovni';
import { openDescriptors } from './open-descriptors.mjs';

const TOGETHER = 4;
const WARM_UP = 40;
const LINES = 10;
const ring = { ringBytes: 65_536 };
// Of allocators and V8, which take their time; a lost ring of every worker would be far above it.
const MIB_OF_GROWTH = 64;

/** What the process holds: descriptors, mapped rings, ring files, resident memory in MiB. */
function held(directory) {
  const maps = readFileSync('/proc/self/maps', 'utf8').split('\n');
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return {
    descriptors: openDescriptors().length,
    // A ring's file had no name when it was mapped.
    mappings: maps.filter((line) => /\.ring|tracewright-ring|\/#\d+ /.test(line)).length,
    files: names.filter((name) => name.endsWith('.ring')).length,
    memory: process.memoryUsage().rss / 2 ** 20,
  };
}

/** As little as it comes to while threads that ended are cleaned up. */
async function settled(directory, enough) {
  let now = held(directory);
  for (let tries = 0; tries < 100 && !enough(now); tries++) {
    globalThis.gc?.();
    await delay(20);
    now = held(directory);
  }
  return now;
}

async function runWorker(directory, number, terminated) {
  const place = join(directory, `worker-${number}`);
  mkdirSync(place);
  const worker = new Worker(fileURLToPath(import.meta.url), {
    workerData: { place, hephFile: join(directory, 'trace.heph'), terminated },
  });
  const ended = once(worker, 'exit');
  if (terminated) {
    await once(worker, 'message');
    // Somewhere in the midst of its writing.
    await delay(Math.random() * 5);
    await worker.terminate();
  }
  await ended;
  rmSync(place, { recursive: true });
}

/**
 * Runs `count` workers and prints what the process holds over time.
 *
 * @returns whether it holds no more in the end than after the first of them.
 */
export async function runWorkers(count, directory) {
  const place = mkdtempSync(join(directory, 'workers-'));
  const { procDir } = ovni.procInit(1, 'node.1', 1, { ...ring, traceDir: join(place, 'ovni') });
  const trace = openTrace(join(place, 'trace.heph'), ring);
  const say = (workers, { descriptors, mappings, files, memory }) => {
    const cells = [workers, descriptors, mappings, files, memory.toFixed(0)];
    process.stdout.write(`${cells.map((cell) => String(cell).padStart(13)).join('')}\n`);
  };
  const heads = ['workers', 'descriptors', 'mapped rings', 'ring files', 'RSS MiB'];
  process.stdout.write(`${heads.map((head) => head.padStart(13)).join('')}\n`);
  let started = 0;
  const until = async (limit) => {
    while (started < limit) {
      const wave = Math.min(TOGETHER, limit - started);
      await Promise.all(
        Array.from({ length: wave }, () => {
          const number = started++;
          return runWorker(place, number, number % 2 === 1);
        }),
      );
      for (const name of readdirSync(procDir)) {
        rmSync(join(procDir, name), { recursive: true });
      }
    }
  };
  const before = held(place);
  // The first ones open what is opened once.
  await until(Math.min(WARM_UP, count));
  const first = await settled(
    place,
    ({ mappings, files }) => mappings <= before.mappings && files <= before.files,
  );
  let last = first;
  say(started, first);
  for (let line = 1; line <= LINES; line++) {
    if ((count * line) / LINES <= started) continue;
    await until(Math.round((count * line) / LINES));
    last = await settled(
      place,
      (now) =>
        now.descriptors <= first.descriptors &&
        now.mappings <= first.mappings &&
        now.files <= first.files,
    );
    say(started, last);
  }
  ovni.procFini();
  await trace.close();
  return (
    last.descriptors <= first.descriptors &&
    last.mappings <= first.mappings &&
    last.files <= first.files &&
    last.memory <= first.memory + MIB_OF_GROWTH
  );
}

async function work({ place, hephFile, terminated }) {
  const { parentPort } = await import('node:worker_threads');
  ovni.threadInit();
  ovni.event('OHx')(-1, -1, 0);
  const burst = ovni.event('OB.(u32 n)');
  const trace = openTrace(hephFile, ring);
  const stream = trace.stream();
  const span = stream.span('work', { n: 'u64' });
  const rank = openRank({ ...ring, directory: join(place, 'dumpi'), rank: 0, size: 1 });
  const references = openReferences(join(place, 'references'), ring);
  const write = () => {
    for (let n = 0; n < 200; n++) {
      burst(n);
      if (n % 50 === 0) span.finish(stream.startTrace(), n);
      rank.log('MPI_Send', { count: n, datatype: 5, dest: 0, tag: 7, comm: 2 }, rank.enter());
      references.store(n, 8, 1, n);
    }
  };
  write();
  parentPort.postMessage('writing');
  while (terminated) write();
  ovni.event('OHe')();
  ovni.threadFree();
  await trace.close();
  rank.close();
  references.close();
}

if (!isMainThread) await work(workerData);
