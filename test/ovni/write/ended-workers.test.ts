import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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
