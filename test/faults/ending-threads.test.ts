import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkTrace as checkHeph, recoverTrace as recoverHeph } from '../../src/heph/index.js';
import type { TraceStats } from '../../src/heph/index.js';
import {
  checkReferences,
  readReferences,
  recoverTrace as recoverReferences,
} from '../../src/laplace/index.js';
import { checkTrace as checkOvni } from '../../src/ovni/read/check.js';
import type { ProcessStats } from '../../src/ovni/index.js';
import { recoverTrace as recoverOvni } from '../../src/ovni/read/recover.js';
import { resultOfFixture } from '../fixtures/run-fixture.js';
import { hephNumbers, ovniNumbers } from './numbered-traces.js';
import { mayMount, SmallDisk } from './small-disk.js';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const each of undo.splice(0)) each();
});

interface Counts {
  heph: TraceStats;
  ovni: ProcessStats;
}

interface Result extends Counts {
  full: Counts & { rings: number };
  joined?: number;
  n: number;
}

const options = { ringBytes: 65_536 };
const ofWorker = Array.from({ length: 400 }, (_, i) => i);

function smallDisk(): SmallDisk {
  const disk = SmallDisk.mount(1024)!;
  undo.push(() => {
    disk.unmount();
  });
  return disk;
}

function ascending(numbers: number[]): number[] {
  return numbers.sort((a, b) => a - b);
}

/** Holds everything that lies on the disk against what both threads have recorded. */
function expectWhole({ path }: SmallDisk, { n, heph }: Result): void {
  const all = [...ofWorker, ...Array.from({ length: n }, (_, i) => 1000 + i)];
  const file = join(path, 'trace.heph');
  expect([...checkHeph(file)].filter(({ rule }) => !rule.startsWith('converter-'))).toEqual([]);
  expect(ascending(hephNumbers(file))).toEqual(all);
  expect(heph.recorded).toBe(all.length);
  expect([...checkOvni(join(path, 'ovni'))]).toEqual([]);
  expect(ascending(ovniNumbers(join(path, 'ovni')))).toEqual(all);
  const references = join(path, 'references');
  expect([...checkReferences(references)]).toEqual([]);
  expect([...readReferences(references)]).toHaveLength(ofWorker.length);
}

function ringsOn({ path }: SmallDisk): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ring'),
  );
}

describe.skipIf(!mayMount)('a worker that ends (skipped where mounts need another user)', () => {
  it.each([
    { version: 3, terminate: true },
    { version: 1, terminate: true },
    { version: 3, terminate: false },
  ])('on a full disk that is freed: $version, $terminate', async ({ version, terminate }) => {
    const disk = smallDisk();
    const result = await resultOfFixture<Result>('faults/ended-on-full-disk.mjs', {
      input: { disk: disk.path, version, terminate, free: true, options },
    });
    // Meanwhile the rings of the worker wait, and nothing is missing in the counts.
    const { full } = result;
    expect(full.rings).toBe(5);
    expect(full.heph.pending.events).toBeGreaterThanOrEqual(300);
    expect(full.heph.dropped.events).toBe(0);
    expect(full.ovni.unwrittenBytes).toBe(0);
    expect(full.ovni.pendingBytes).toBeGreaterThan(300 * 16);
    expect(result.heph.written.events).toBe(result.heph.recorded);
    expect(result.ovni).toMatchObject({ pendingBytes: 0, unwrittenBytes: 0, droppedEvents: 0 });
    expectWhole(disk, result);
    expect(ringsOn(disk)).toEqual([]);
  });

  it('on a disk that stays full: its rings are left to recovery', async () => {
    const disk = smallDisk();
    const ringDir = mkdtempSync(join(tmpdir(), 'tracewright-ending-'));
    undo.push(() => {
      rmSync(ringDir, { recursive: true });
    });
    const result = await resultOfFixture<Result>('faults/ended-on-full-disk.mjs', {
      input: { disk: disk.path, version: 3, terminate: true, free: false, again: ringDir, options },
    });
    expect(result.full.rings).toBe(5);
    // Opened again while the process still has events for it, the trace goes on.
    expect(result.joined).toBe(result.heph.recorded);
    expect(ringsOn(disk)).toHaveLength(5);
    disk.free();
    for (const recovery of [
      recoverHeph(join(disk.path, 'trace.heph')),
      recoverOvni(join(disk.path, 'ovni')),
      recoverReferences(join(disk.path, 'references')),
    ]) {
      expect(recovery.faults).toEqual([]);
    }
    expectWhole(disk, result);
    expect(ringsOn(disk)).toEqual([]);
  });
});
