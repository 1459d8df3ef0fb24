import { readdirSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { TargetFault } from '../../src/core/ring/target-health.js';
import { checkTrace } from '../../src/dumpi/read/check.js';
import { Comm, Datatype } from '../../src/dumpi/constants.js';
import { openRank } from '../../src/dumpi/write/rank.js';
import type { Rank } from '../../src/dumpi/write/rank.js';
import type { RankOptions } from '../../src/dumpi/write/rank-options.js';
import { readCalls } from '../../src/dumpi/read/reader.js';
import { readSections } from '../../src/dumpi/read/section-reader.js';
import { mayMount, SmallDisk } from './small-disk.js';

const disks: SmallDisk[] = [];
afterEach(() => {
  for (const disk of disks.splice(0)) disk.unmount();
});

function smallDisk(): SmallDisk {
  const disk = SmallDisk.mount(1024)!;
  disks.push(disk);
  return disk;
}

/** Its faults go to `faults`, not to the tests' standard error. */
function open(
  disk: SmallDisk,
  options: Partial<RankOptions> = {},
  faults: TargetFault[] = [],
): Rank {
  return openRank({
    directory: disk.path,
    rank: 0,
    size: 1,
    ringBytes: 65_536,
    config: { timestamps: 'wall' },
    onFault: (fault) => faults.push(fault),
    ...options,
  });
}

const send = { count: 4, datatype: Datatype.BYTE, dest: 0, tag: 7, comm: Comm.WORLD };

/** Records again and again until nothing was dropped. */
async function untilRecorded(rank: Rank, record: () => void): Promise<number> {
  for (let tries = 1; ; tries++) {
    const { dropped } = rank;
    record();
    if (rank.dropped === dropped) return tries;
    await after(10);
  }
}

/** The names of the entries of functions that the trace holds; annotations are among them. */
function entered(rank: Rank): string[] {
  const names = new Map(
    readSections(rank.path).functionNames.map(({ address, name }) => [address, name]),
  );
  return [...readCalls(rank.path)]
    .filter(({ name }) => name === 'Function_enter')
    .map(({ fields }) => names.get((fields as { fn: bigint }).fn)!);
}

function rulesBroken(rank: Rank): string[] {
  const expected = ['no-init', 'no-finalize', 'function-nesting', 'reader-copy'];
  return [...checkTrace(rank.path)]
    .map(({ rule }) => rule)
    .filter((rule) => !expected.includes(rule));
}

describe.skipIf(!mayMount)('a disk that is full (skipped where mounts need another user)', () => {
  it('before the first name: no call throws, and names are told when there is room', async () => {
    const disk = smallDisk();
    const rank = open(disk);
    disk.fill();
    rank.functionEnter('function');
    rank.functionExit('function');
    rank.annotate('text');
    rank.annotate('text of key 7', 7);
    expect(rank.dropped).toBe(4);
    rank.log('MPI_Send', send);
    expect(rank.dropped).toBe(4);
    disk.free();
    const tries = await untilRecorded(rank, () => {
      rank.functionEnter('function');
    });
    rank.annotate('text of key 7', 7);
    expect(rank.dropped).toBe(3 + tries);
    rank.close();
    expect(rank.dropped).toBe(3 + tries);
    expect(entered(rank)).toEqual(['function', 'ANNOTATION: text of key 7']);
    expect(rulesBroken(rank)).toEqual([]);
    expect(readdirSync(disk.path).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('while there are more names than a ring holds: all entries in the trace have theirs', async () => {
    const disk = smallDisk();
    const faults: TargetFault[] = [];
    const rank = open(disk, {}, faults);
    rank.functionEnter('first');
    disk.fill();
    const count = 6000;
    for (let i = 0; i < count; i++) rank.functionEnter(`a function of some long name, ${i}`);
    expect(rank.dropped).toBeGreaterThan(0);
    while (faults.length === 0) await after(10);
    disk.free();
    const last = `a function of some long name, ${count - 1}`;
    const tries = await untilRecorded(rank, () => {
      rank.functionEnter(last);
    });
    while (!faults.at(-1)?.over) await after(10);
    // One target to the service, whichever of its files fails.
    expect(faults.map(({ over, target }) => ({ over, target }))).toEqual([
      { over: false, target: rank.path },
      { over: true, target: rank.path },
    ]);
    expect(faults[1]!.dropped).toBe(rank.dropped);
    rank.close();
    const names = entered(rank);
    expect(names).toHaveLength(1 + count + tries - rank.dropped);
    expect(names.at(-1)).toBe(last);
    expect(names).not.toContain(undefined);
    expect(rulesBroken(rank)).toEqual([]);
  });

  it('when a clock begins again: the call is stored, and its time is true', () => {
    const disk = smallDisk();
    const now = Math.floor(Number(process.hrtime.bigint() / 1_000_000_000n));
    const rank = open(disk, { wallBias: now - 70_000 });
    disk.fill();
    rank.log('MPI_Send', send);
    expect(rank.dropped).toBe(0);
    expect(rank.counts('MPI_Send')).toEqual({ calls: 1, ignored: 0 });
    disk.free();
    rank.close();
    const sends = [...readCalls(rank.path)].filter(({ name }) => name === 'MPI_Send');
    expect(sends).toHaveLength(1);
    expect(sends[0]!.wall!.stop.seconds).toBeGreaterThanOrEqual(now);
    expect(rulesBroken(rank)).toEqual([]);
  });
});
