import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { checkTrace as checkHeph } from '../../src/heph/read/check.js';
import { readPackets } from '../../src/heph/read/reader.js';
import { recoverTrace as recoverHeph } from '../../src/heph/read/recover.js';
import { checkTrace as checkOvni } from '../../src/ovni/read/check.js';
import { readStream } from '../../src/ovni/read/ordered-reader.js';
import { recoverTrace as recoverOvni } from '../../src/ovni/read/recover.js';
import { readTraceDirectory } from '../../src/ovni/read/trace-directory.js';
import { runFixture } from '../fixtures/run-fixture.js';
import type { FixtureOptions } from '../fixtures/run-fixture.js';
import { mayLimitMemory, MemoryLimit } from './memory-limit.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const COUNT = 5000;

interface Place {
  folder: string;
  traceDir: string;
  heph: string;
}

function place(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'tracewright-ends-'));
  folders.push(folder);
  return { folder, traceDir: join(folder, 'ovni'), heph: join(folder, 'trace.heph') };
}

function ringsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ring'),
  );
}

/** How many numbered events each stream holds, from 0 and without a gap. */
function expectNumbers(streams: ReadonlyMap<number, readonly number[]>): Map<number, number> {
  for (const [stream, numbers] of streams) {
    const wrong = numbers.findIndex((number, i) => number !== i);
    if (wrong !== -1) throw new Error(`stream ${stream}: ${numbers[wrong]!} in place ${wrong}`);
  }
  return new Map([...streams].map(([stream, numbers]) => [stream, numbers.length]));
}

function ovniCounts(traceDir: string): Map<number, number> {
  const streams = new Map<number, number[]>();
  for (const { path, version, pid, tid } of readTraceDirectory(traceDir).streams) {
    const numbers: number[] = [];
    let last = '';
    for (const event of readStream(path, { version })) {
      if (event.mcv === 'OB.') numbers.push(Buffer.from(event.payload).readUInt32LE(0));
      last = event.mcv;
    }
    expect(last).toBe('OHe');
    streams.set(pid === 1 ? tid : pid, numbers);
  }
  expect([...checkOvni(traceDir)]).toEqual([]);
  return expectNumbers(streams);
}

function hephCounts(path: string): Map<number, number> {
  const streams = new Map<number, number[]>();
  for (const packet of readPackets(path)) {
    if (packet.kind !== 'event') continue;
    const numbers = streams.get(packet.stream) ?? [];
    streams.set(packet.stream, numbers);
    numbers.push(Number(packet.attributes[0]!.value));
  }
  expect([...checkHeph(path)].filter(({ rule }) => !rule.startsWith('converter-'))).toEqual([]);
  return expectNumbers(streams);
}

async function run(
  ending: string,
  version: 1 | 3,
  { traceDir, heph }: Place,
  { memoryLimit, ...options }: FixtureOptions & { memoryLimit?: string } = {},
) {
  return runFixture('ends/ending-threads.mjs', {
    input: { ending, count: COUNT, version, traceDir, heph, memoryLimit },
    ...options,
  });
}

const both = (first = COUNT, second = COUNT) =>
  new Map([
    [1, first],
    [2, second],
  ]);

describe.each([1, 3] as const)('ovni version %i and Heph, complete at once after', (version) => {
  it.each([
    ['process.exit', 3],
    ['exception', 1],
    ['rejection', 1],
    ['worker exit', 3],
    ['worker throw', 3],
    ['child', 3],
  ])('%s', async (ending, code) => {
    const at = place();
    // The main thread goes on after its worker, and ends in its own way.
    const own = ending.startsWith('worker');
    const outcome = await run(ending, version, at, {
      onOutput: (child, text) => {
        if (own && text.includes('written')) child.kill('SIGKILL');
      },
    });
    if (own) {
      expect(outcome.stdout).toContain(ending === 'worker exit' ? '"workerCode":4' : 'as planned');
      // Of the worker's stream nothing is left to do, although the process was killed later.
      expect(ringsIn(at.traceDir).filter((name) => name.includes('thread.2'))).toEqual([]);
      recoverHeph(at.heph);
      recoverOvni(at.traceDir);
    } else {
      expect(outcome).toMatchObject({ code, signal: null });
    }
    expect(ringsIn(at.folder)).toEqual([]);
    expect(ovniCounts(at.traceDir)).toEqual(both(ending === 'child' ? COUNT + 1 : COUNT));
    expect(hephCounts(at.heph)).toEqual(both(ending === 'child' ? COUNT + 1 : COUNT));
  });

  it('process.chdir, with paths that were relative', async () => {
    const at = place();
    const relative = { ...at, traceDir: 'ovni', heph: 'trace.heph' };
    const outcome = await run('chdir', version, relative, { cwd: at.folder });
    expect(outcome).toMatchObject({ code: 3, signal: null });
    expect(ringsIn(at.folder)).toEqual([]);
    // The worker opens the Heph file by its relative name after the change of directory, or before.
    expect(ovniCounts(at.traceDir)).toEqual(both());
    expect(hephCounts(at.heph).get(1)).toBe(COUNT);
  });

  it('worker.terminate in the middle of a write', async () => {
    const at = place();
    const outcome = await run('worker.terminate', version, at, {
      onOutput: (child, text) => {
        if (text.includes('written')) child.kill('SIGKILL');
      },
    });
    const { reached } = JSON.parse(outcome.stdout.split('\n')[0]!) as { reached: number };
    expect(ringsIn(at.traceDir).filter((name) => name.includes('thread.2'))).toEqual([]);
    recoverHeph(at.heph);
    recoverOvni(at.traceDir);
    expect(ovniCounts(at.traceDir).get(1)).toBe(COUNT);
    expect(ovniCounts(at.traceDir).get(2)).toBeGreaterThanOrEqual(reached);
    expect(hephCounts(at.heph).get(1)).toBe(COUNT);
    expect(hephCounts(at.heph).get(2)).toBeGreaterThanOrEqual(reached);
  });
});

describe.each([1, 3] as const)(
  'ovni version %i and Heph, complete once recovered after',
  (version) => {
    it.each([
      ['abort', 'SIGABRT', []],
      ['SIGSEGV', 'SIGSEGV', []],
      ['SIGKILL', 'SIGKILL', []],
      ['out of memory', 'SIGABRT', ['--max-old-space-size=24']],
    ])('%s', async (ending, signal, execArgv) => {
      const at = place();
      const outcome = await run(ending, version, at, { execArgv, cwd: at.folder });
      expect(outcome).toMatchObject({ code: null, signal });
      expect(outcome.stdout).toContain('written');
      recoverHeph(at.heph);
      recoverOvni(at.traceDir);
      expect(ringsIn(at.folder)).toEqual([]);
      expect(ovniCounts(at.traceDir)).toEqual(both());
      expect(hephCounts(at.heph)).toEqual(both());
    });

    it.skipIf(!mayLimitMemory)("the kernel's OOM kill (where memory can be limited)", async () => {
      const limit = MemoryLimit.set(128 * 2 ** 20)!;
      const at = place();
      const outcome = await run('OOM kill', version, at, { memoryLimit: limit.path });
      expect(outcome).toMatchObject({ code: null, signal: 'SIGKILL' });
      expect(limit.kills()).toBe(1);
      await limit.remove();
      recoverHeph(at.heph);
      recoverOvni(at.traceDir);
      expect(ringsIn(at.folder)).toEqual([]);
      expect(ovniCounts(at.traceDir)).toEqual(both());
      expect(hephCounts(at.heph)).toEqual(both());
    });

    it('a kill while the event loop has been blocked for a second', async () => {
      const at = place();
      const outcome = await run('blocked', version, at, {
        onOutput: (child, text) => {
          if (text.includes('blocked')) void sleep(1000).then(() => child.kill('SIGKILL'));
        },
      });
      expect(outcome).toMatchObject({ signal: 'SIGKILL' });
      recoverHeph(at.heph);
      recoverOvni(at.traceDir);
      expect(ovniCounts(at.traceDir)).toEqual(both());
      expect(hephCounts(at.heph)).toEqual(both());
    });

    it('a kill of cluster workers by their primary', async () => {
      const at = place();
      const outcome = await run('cluster', version, at);
      expect(outcome).toMatchObject({ code: 0, signal: null });
      expect(outcome.stdout).toContain('["SIGKILL","SIGKILL"]');
      recoverOvni(at.traceDir);
      const files = readdirSync(at.folder).filter((name) => /^trace\.heph\.\d+$/.test(name));
      expect(files).toHaveLength(2);
      for (const file of files) {
        recoverHeph(join(at.folder, file));
        expect(hephCounts(join(at.folder, file))).toEqual(new Map([[1, COUNT]]));
      }
      expect([...ovniCounts(at.traceDir).values()]).toEqual([COUNT, COUNT]);
      expect(ringsIn(at.folder)).toEqual([]);
      expect(existsSync(at.heph)).toBe(false);
    });
  },
);
