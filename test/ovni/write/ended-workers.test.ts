import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkTrace } from '../../../src/ovni/read/check.js';
import { readTraceDirectory } from '../../../src/ovni/read/trace-directory.js';
import { recoverTrace } from '../../../src/ovni/read/recover.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const built = fileURLToPath(new URL('../../../dist/ovni/index.js', import.meta.url));

/** Begins a thread, sets an attribute and a label, and ends as `end` says, without threadFree. */
const program = (end: string): string => `
  const ovni = require(${JSON.stringify(built)});
  const { parentPort } = require('node:worker_threads');
  ovni.threadInit(7);
  ovni.addCpu(0, 0);
  ovni.event('OHx')(0, 1, 0);
  ovni.attrSet('app.name', 'shop');
  ovni.markType(1, 'Phase', { stack: true });
  ovni.markLabel(1, 1, 'loading');
  ovni.markPush(1, 1);
  ovni.markPop(1, 1);
  ${end}`;

const ENDS = {
  returns: '',
  throws: "throw new Error('ends');",
  exits: 'process.exit(3);',
  'is terminated': "parentPort.postMessage('now'); setInterval(() => {}, 1000);",
};

/** The process: it begins such a thread, waits for its end, and ends. */
const main = (version: number, traceDir: string, end: string): string => `
  const { procFini, procInit } = require(${JSON.stringify(built)});
  const { Worker } = require('node:worker_threads');
  procInit(1, 'h', 1, { version: ${version}, traceDir: ${JSON.stringify(traceDir)} });
  const worker = new Worker(${JSON.stringify(program(end))}, { eval: true });
  worker.on('error', () => undefined);
  worker.on('message', () => worker.terminate());
  worker.on('exit', () => procFini());`;

const CASES = Object.entries(ENDS).flatMap(([how, end]) =>
  [false, true].map((isElsewhere) => [how, isElsewhere, end] as const),
);

describe.each([1, 3] as const)('a worker without threadFree, version %i', (version) => {
  it.each(CASES)(
    'that %s leaves a finished stream; OVNI_TMPDIR: %s',
    (_, isElsewhere, end) => {
      const directory = temporaryDirectory();
      const traceDir = join(directory, 'ovni');
      const { status, stderr } = spawnSync(process.execPath, ['-e', main(version, traceDir, end)], {
        env: { ...process.env, ...(isElsewhere && { OVNI_TMPDIR: join(directory, 'temporary') }) },
        encoding: 'utf8',
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const procDir = join(traceDir, 'loom.h', 'proc.1');
      const ring = join(procDir, version === 3 ? 'thread.7/.stream.ring' : '.thread.7.ring');
      expect(existsSync(ring)).toBe(false);
      const [stream] = readTraceDirectory(traceDir).streams;
      expect(stream!.metadata.attributes).toMatchObject({ app: { name: 'shop' } });
      const metadata = version === 3 ? 'thread.7/stream.json' : 'metadata.json';
      expect(readFileSync(join(procDir, metadata), 'utf8')).toContain('loading');
      expect([...checkTrace(traceDir)].filter(({ severity }) => severity === 'error')).toEqual([]);
      const { streams, emptied, faults } = recoverTrace(traceDir);
      expect({ emptied, faults }).toEqual({ emptied: [], faults: [] });
      for (const each of streams) expect(each).not.toHaveProperty('lostRing');
    },
    30_000,
  );
});

/** Sets attributes and labels without a pause, and counts them. */
const HASTY = `
  const ovni = require(${JSON.stringify(built)});
  const { workerData: { tid, counts } } = require('node:worker_threads');
  ovni.threadInit(tid);
  ovni.event('OHx')(-1, 1, 0);
  ovni.markType(tid, 'Phase', { stack: true });
  for (let n = 1; ; n++) {
    ovni.attrSet('app' + (n % 3) + '.name' + n, n);
    ovni.markLabel(tid, n, 'label "' + n + '"');
    Atomics.store(counts, 0, n);
  }`;

/** Terminates workers at points of their lives that differ. */
const terminating = (version: number, traceDir: string, workers: number): string => `
  const ovni = require(${JSON.stringify(built)});
  const { Worker } = require('node:worker_threads');
  ovni.procInit(1, 'h', 1, { version: ${version}, traceDir: ${JSON.stringify(traceDir)} });
  ovni.threadInit(1);
  ovni.addCpu(0, 0);
  ovni.event('OHx')(-1, 1, 0);
  (async () => {
    const all = {};
    for (let tid = 2; tid < ${workers} + 2; tid++) {
      const counts = new Int32Array(new SharedArrayBuffer(4));
      const worker = new Worker(${JSON.stringify(HASTY)}, { eval: true, workerData: { tid, counts } });
      worker.on('error', (error) => { throw error; });
      // Every second one while it begins.
      const least = tid % 2 === 0 ? 0 : Math.floor(Math.random() * 400);
      if (least === 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * 120));
      while (Atomics.load(counts, 0) < least) await new Promise(setImmediate);
      await worker.terminate();
      all[tid] = Atomics.load(counts, 0);
    }
    // Before procFini.
    console.log(JSON.stringify({ all, threads: require('node:fs').readdirSync(${JSON.stringify(join(traceDir, 'loom.h', 'proc.1'))}) }));
    ovni.event('OHe')();
    ovni.threadFree();
    ovni.procFini();
  })();`;

describe.each([1, 3] as const)('workers that are terminated anywhere, version %i', (version) => {
  it('leave all attributes and labels, and no empty directory', { timeout: 120_000 }, () => {
    const traceDir = join(temporaryDirectory(), 'ovni');
    const args = ['-e', terminating(version, traceDir, 24)];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { all, threads } = JSON.parse(stdout) as {
      all: Record<number, number>;
      threads: string[];
    };
    const { streams } = readTraceDirectory(traceDir);
    const procDir = join(traceDir, 'loom.h', 'proc.1');
    if (version === 3) {
      for (const name of threads) expect(readdirSync(join(procDir, name))).not.toEqual([]);
    }
    expect(Object.values(all).filter((count) => count > 32).length).toBeGreaterThan(5);
    for (const [tid, count] of Object.entries(all)) {
      if (count === 0) continue;
      const { metadata } = streams.find((each) => each.tid === Number(tid))!;
      const names = Object.values(metadata.attributes).flatMap((each) =>
        Object.keys(each as object),
      );
      const labels = metadata.marks.get(Number(tid))!.labels;
      expect([tid, names.length >= count, labels.size >= count]).toEqual([tid, true, true]);
    }
    expect([...checkTrace(traceDir)].filter(({ severity }) => severity === 'error')).toEqual([]);
    const { emptied, faults, streams: recovered } = recoverTrace(traceDir);
    expect({ emptied, faults, recovered }).toEqual({ emptied: [], faults: [], recovered: [] });
  });
});
