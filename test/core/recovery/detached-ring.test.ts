import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { endianness, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { core } from '../../../src/core/addon.js';
import type { Recovery } from '../../../src/core/recovery/recovery.js';
import { readCalls } from '../../../src/dumpi/read/reader.js';
import { recoverTrace as recoverDumpi } from '../../../src/dumpi/read/recover.js';
import { EPOCH_PACKET_BYTES } from '../../../src/heph/layout.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { recoverTrace as recoverHeph } from '../../../src/heph/read/recover.js';
import { openTrace } from '../../../src/heph/write/trace.js';
import { openKernelEvents } from '../../../src/laplace/write/kernel-events.js';
import { readKernelEvents } from '../../../src/laplace/read/kernel-reader.js';
import { recoverTrace as recoverLaplace } from '../../../src/laplace/read/recover.js';
import { readReferences } from '../../../src/laplace/read/reference-reader.js';
import { readStream } from '../../../src/ovni/read/ordered-reader.js';
import { recoverTrace as recoverOvni } from '../../../src/ovni/read/recover.js';
import { readTraceDirectory } from '../../../src/ovni/read/trace-directory.js';
import { runFixture } from '../../fixtures/run-fixture.js';

const COUNT = 500;
/** ovni's threads, Heph's, a rank, and Laplace's two traces. */
const RINGS = 9;
const RANK = 'dumpi/dumpi-2026.01.01.00.00.00-0000.bin';

const root = mkdtempSync(join(tmpdir(), 'tracewright-elsewhere-'));
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

interface Left {
  place: string;
  ringDir: string;
}

async function killIn(place: string, version: number, ringDir?: string): Promise<void> {
  mkdirSync(place);
  const input = { place, count: COUNT, version, ringDir };
  const { signal, stderr } = await runFixture('core/killed-formats.mjs', { input });
  expect([signal, stderr]).toEqual(['SIGKILL', '']);
}

/** What a killed process has left in every format, with its rings in a directory of their own. */
async function killed(version: 1 | 3 = 3): Promise<Left> {
  const folder = mkdtempSync(join(root, 'run-'));
  const left = { place: join(folder, 'place'), ringDir: join(folder, 'rings') };
  mkdirSync(left.ringDir);
  await killIn(left.place, version, left.ringDir);
  return left;
}

function recoverAll(place: string, ringDir?: string): Recovery[] {
  const options = ringDir === undefined ? {} : { ringDir };
  return [
    recoverOvni(join(place, 'ovni'), options),
    recoverHeph(join(place, 'trace.heph'), options),
    recoverDumpi(join(place, 'dumpi'), options),
    recoverLaplace(join(place, 'a.references'), options),
    recoverLaplace(join(place, 'a.kernel.txt'), options),
  ];
}

function faultsOf(recoveries: readonly Recovery[]): Recovery['faults'] {
  return recoveries.flatMap(({ faults }) => faults);
}

/** The calls ring of a rank, and that of its names, count as one. */
function ringsLeft(ringDir: string): number {
  return readdirSync(ringDir).filter((name) => !name.endsWith('.names.ring')).length;
}

function countOf<T>(items: Iterable<T>, accepts: (item: T) => boolean): number {
  let count = 0;
  for (const item of items) if (accepts(item)) count += 1;
  return count;
}

/** Everything that the fixture has recorded. */
function expectWhole(place: string, version: 1 | 3 = 3): void {
  const { streams } = readTraceDirectory(join(place, 'ovni'));
  expect(streams).toHaveLength(3);
  for (const { path } of streams) {
    expect(countOf(readStream(path, { version }), ({ mcv }) => mcv === 'OB.')).toBe(COUNT);
  }
  const packets = readPackets(join(place, 'trace.heph'));
  expect(countOf(packets, ({ kind }) => kind === 'event')).toBe(3 * COUNT);
  const calls = readCalls(join(place, RANK));
  expect(countOf(calls, ({ name }) => name === 'MPI_Send')).toBe(COUNT);
  expect([...readReferences(join(place, 'a.references'), { form: 'binary' })]).toHaveLength(COUNT);
  expect([...readKernelEvents(join(place, 'a.kernel.txt'))]).toHaveLength(COUNT + 1);
}

function contentOf(place: string): Map<string, Buffer> {
  const files = readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.sort().map((file) => [file, readFileSync(file)]));
}

/** As if the thread that writes files out had not come round before the kill. */
function withNothingWritten(ring: string, file: string, fileBytes: number): void {
  const page = readFileSync(ring);
  const { control } = core;
  for (const at of [control.tail, control.claimFrom, control.claimTo, control.claimOffset]) {
    page.fill(0, at, at + 8);
  }
  writeFileSync(ring, page);
  truncateSync(file, fileBytes);
}

describe.each([1, 3] as const)('traces with their rings elsewhere, ovni %i', (version) => {
  it('that were moved are recovered where they are, whatever came to their place', async () => {
    const { place, ringDir } = await killed(version);
    expect(ringsLeft(ringDir)).toBe(RINGS);
    const moved = `${place}.moved`;
    renameSync(place, moved);
    await killIn(place, version);
    expect(faultsOf(recoverAll(place))).toEqual([]);
    expectWhole(place, version);
    const before = contentOf(place);

    const faults = faultsOf(recoverAll(place, ringDir));
    expect(faults.map(({ code, field }) => [code, field])).toEqual(
      Array.from({ length: RINGS }, () => ['ERR_TRACE_EXISTS', 'ringDir']),
    );
    expect(contentOf(place)).toEqual(before);
    expect(ringsLeft(ringDir)).toBe(RINGS);

    expect(faultsOf(recoverAll(moved, ringDir))).toEqual([]);
    expectWhole(moved, version);
    expect(readdirSync(ringDir)).toEqual([]);
    expect(contentOf(place)).toEqual(before);
  });
});

describe('rings elsewhere', () => {
  it('whose traces were removed take nothing from those that came to their place', async () => {
    const { place, ringDir } = await killed();
    // Some file systems give the numbers of removed files to the next ones.
    rmSync(place, { recursive: true });
    await killIn(place, 3);
    const begun = contentOf(place);
    const faults = faultsOf(recoverAll(place, ringDir));
    expect(faults).toHaveLength(RINGS);
    expect(faults.every(({ code }) => code === 'ERR_TRACE_EXISTS')).toBe(true);
    // What has come there is recovered besides, as if there were no such rings.
    expect(contentOf(place)).not.toEqual(begun);
    expectWhole(place);
    expect(ringsLeft(ringDir)).toBe(RINGS);
  });

  it('and their traces, put back from a copy, are recovered as the fault says', async () => {
    const { place, ringDir } = await killed();
    const copy = `${place}.copy`;
    cpSync(place, copy, { recursive: true });
    rmSync(place, { recursive: true });
    renameSync(copy, place);
    const faults = faultsOf(recoverAll(place, ringDir));
    // The metadata of ovni names the rings.
    expect(faults).toHaveLength(RINGS - 3);
    for (const { message } of faults) {
      for (const [, from, to] of message.matchAll(/(\S+\.ring) to (\S+\.ring)/g)) {
        if (existsSync(from!)) renameSync(from!, to!);
      }
    }
    expect(readdirSync(ringDir)).toEqual([]);
    expect(faultsOf(recoverAll(place))).toEqual([]);
    expectWhole(place);
  });

  it('and their ovni trace are recovered as copies, with the originals gone', async () => {
    const { place, ringDir } = await killed();
    const [trace, rings] = [`${place}.copy`, `${ringDir}.copy`];
    cpSync(place, trace, { recursive: true });
    cpSync(ringDir, rings, { recursive: true });
    rmSync(place, { recursive: true });
    rmSync(ringDir, { recursive: true });
    expect(recoverOvni(join(trace, 'ovni'), { ringDir: rings }).faults).toEqual([]);
    for (const { path } of readTraceDirectory(join(trace, 'ovni')).streams) {
      expect(countOf(readStream(path, { version: 3 }), ({ mcv }) => mcv === 'OB.')).toBe(COUNT);
    }
  });

  it('keep what they hold of a trace that was moved when its place is taken again', async () => {
    const { place, ringDir } = await killed();
    const heph = join(place, 'trace.heph');
    const kernel = join(place, 'a.kernel.txt');
    const [hephRing, kernelRing] = ['trace.heph', 'a.kernel.txt'].map((name) =>
      readdirSync(ringDir)
        .map((ring) => join(ringDir, ring))
        .filter((ring) => readFileSync(ring).includes(`${place}/${name}\0`)),
    );
    expect([hephRing, kernelRing]).toMatchObject([{ length: 3 }, { length: 1 }]);
    for (const ring of hephRing!) withNothingWritten(ring, heph, EPOCH_PACKET_BYTES);
    withNothingWritten(kernelRing![0]!, kernel, 0);
    const moved = `${place}.moved`;
    renameSync(place, moved);
    mkdirSync(place);
    // Twice: first nothing is there, then a file that is not the rings'.
    for (let run = 0; run < 2; run++) {
      const trace = openTrace(heph, { ringDir, exists: 'replace' });
      trace.stream(1).span('new', { n: 'u64' });
      await trace.close();
      const events = openKernelEvents(kernel, { ringDir, exists: 'replace' });
      events.schedule(1, 2);
      events.close();
      expect(readFileSync(kernel, 'latin1')).toBe('s 1 2\nc\n');
      expect(countOf(readPackets(heph), ({ kind }) => kind === 'event')).toBe(0);
    }
    expect(faultsOf(recoverAll(moved, ringDir))).toEqual([]);
    expectWhole(moved);
    expect(readdirSync(ringDir)).toEqual([]);
  });

  it('know a Heph file that replaced theirs', async () => {
    const { place, ringDir } = await killed();
    const heph = join(place, 'trace.heph');
    await openTrace(heph, { exists: 'replace' }).close();
    const before = readFileSync(heph);
    const { faults, streams } = recoverHeph(heph, { ringDir });
    expect(streams).toEqual([]);
    expect(faults.map(({ code }) => code)).toEqual(Array(3).fill('ERR_TRACE_EXISTS'));
    expect(readFileSync(heph).equals(before)).toBe(true);
  });

  it('are taken for those of the trace beside which they lie once only', async () => {
    const { place, ringDir } = await killed();
    const heph = join(place, 'trace.heph');
    for (const name of readdirSync(ringDir).filter((ring) => ring.startsWith('.trace.heph.'))) {
      withNothingWritten(join(ringDir, name), heph, EPOCH_PACKET_BYTES);
      renameSync(join(ringDir, name), join(place, name));
    }
    expect(recoverHeph(heph, { ringDir: place }).faults).toEqual([]);
    expect(countOf(readPackets(heph), ({ kind }) => kind === 'event')).toBe(3 * COUNT);
  });

  it('that note no file count for what lies at the path that they state', async () => {
    const { place, ringDir } = await killed();
    const copy = `${place}.copy`;
    cpSync(place, copy, { recursive: true });
    rmSync(place, { recursive: true });
    renameSync(copy, place);
    for (const name of readdirSync(ringDir)) {
      const page = readFileSync(join(ringDir, name));
      const at = core.control.targetInode;
      const inode = endianness() === 'LE' ? page.readBigUInt64LE(at) : page.readBigUInt64BE(at);
      expect(inode).toBeGreaterThan(0n);
      page.fill(0, at, at + 8);
      writeFileSync(join(ringDir, name), page);
    }
    expect(faultsOf(recoverAll(place, ringDir))).toEqual([]);
    expectWhole(place);
  });
});
