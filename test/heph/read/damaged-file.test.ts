import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { core } from '../../../src/core/addon.js';
import { openTrace, readPackets, recoverTrace } from '../../../src/heph/index.js';
import { EPOCH_PACKET_BYTES } from '../../../src/heph/layout.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { readSpans } from '../../../src/spans/index.js';
import { tracewright } from '../../cli/run-command.js';
import { runFixture } from '../../fixtures/run-fixture.js';
import { temporaryDirectory } from '../temporary-file.js';

const folder = temporaryDirectory();
const WRITTEN = 4000;
const HELD = 300;
const OPEN = 208;
const NAME = 'trace.heph';

/** Of one thread, and of a process with workers, whose threads write in turns. */
const left = { 'one thread': join(folder, 'one'), 'several threads': join(folder, 'several') };
const WORKERS = 2;

/** Whether a ring holds events that are in no file. */
function isWaiting(page: Buffer): boolean {
  const { head, tail } = core.control;
  return page.readBigUInt64LE(head) > page.readBigUInt64LE(tail);
}

const ringsIn = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.ring'))
    .map((name) => join(directory, name))
    .sort();

beforeAll(async () => {
  for (const [name, directory] of Object.entries(left)) {
    // On a busy machine the last events may be written before the kill comes.
    for (let attempt = 0; attempt < 10; attempt++) {
      rmSync(directory, { recursive: true, force: true });
      mkdirSync(directory);
      const { signal, stderr } = await runFixture('heph/killed-spans.mjs', {
        input: {
          target: join(directory, NAME),
          written: WRITTEN,
          held: HELD,
          open: OPEN,
          workers: name === 'one thread' ? 0 : WORKERS,
        },
      });
      expect(stderr).toBe('');
      expect(signal).toBe('SIGKILL');
      if (ringsIn(directory).some((ring) => isWaiting(readFileSync(ring)))) break;
    }
  }
}, 60_000);

interface Copy {
  directory: string;
  file: string;
  rings: string[];
}

function copyOf(directory: string): Copy {
  const copy = mkdtempSync(join(folder, 'copy-'));
  cpSync(directory, copy, { recursive: true });
  return { directory: copy, file: join(copy, NAME), rings: ringsIn(copy) };
}

interface Read {
  spans: number;
  open: number;
}

/** What can be read, up to the first byte that cannot. */
async function read(file: string): Promise<Read> {
  const counts = { spans: 0, open: 0 };
  try {
    for await (const { unfinished } of readSpans(file)) {
      counts.spans += 1;
      if (unfinished) counts.open += 1;
    }
  } catch {
    // It is damaged here.
  }
  return counts;
}

/** What `report` and `view` read of it. */
async function indexed(file: string): Promise<Read> {
  const index = await openLookIndex([file], { cache: false });
  try {
    const facts = index.parts.map(({ count, unfinished }) => ({ spans: count, open: unfinished }));
    return facts.reduce((sum, each) => ({
      spans: sum.spans + each.spans,
      open: sum.open + each.open,
    }));
  } finally {
    index.close();
  }
}

/** Recovers, and ensures that nothing is lost by that and that a repetition changes nothing. */
async function recover({ directory, file }: Copy) {
  const before = await read(file);
  const { faults, streams } = recoverTrace(file);
  const after = await read(file);
  expect(after.spans).toBeGreaterThanOrEqual(before.spans);
  expect(after.open).toBeGreaterThanOrEqual(before.open);
  const bytes = readFileSync(file);
  const names = readdirSync(directory).sort();
  const again = recoverTrace(file);
  expect(readFileSync(file).equals(bytes)).toBe(true);
  expect(readdirSync(directory).sort()).toEqual(names);
  expect(again.faults.map(({ message }) => message)).toEqual(faults.map(({ message }) => message));
  return { before, after, faults: faults.map(({ message }) => message), streams };
}

/** Where the packets of a file begin. */
function boundaries(file: string): number[] {
  return Array.from(readPackets(file), ({ offset }) => offset).filter((at) => at > 0);
}

describe.runIf(process.platform === 'linux').each(Object.entries(left))(
  'the file of a killed process with %s',
  (name, directory) => {
    const threads = name === 'one thread' ? 1 : 1 + WORKERS;

    it('is recovered to the last span if it is whole', async () => {
      const { before, after, faults } = await recover(copyOf(directory));
      const open = OPEN * threads;
      expect(after).toEqual({ spans: (WRITTEN + HELD) * threads + open, open });
      expect(before).toEqual(after);
      expect(faults).toEqual([]);
    });

    it.each([0.999, 0.7, 0.3])(
      'and that lost its end within an event keeps the rest (%d)',
      async (share) => {
        const copy = copyOf(directory);
        const all = boundaries(copy.file);
        const at = all[Math.floor((all.length - 1) * share)]!;
        const cut = readFileSync(copy.file).subarray(at, at + 29);
        truncateSync(copy.file, at + cut.length);
        const { before, after, faults } = await recover(copy);
        expect(after).toEqual(before);
        expect(after.open).toBe(OPEN * threads);
        expect(faults).toEqual([expect.stringContaining('has lost its end')]);
        const kept = readdirSync(copy.directory).filter((each) => each.endsWith('.cut'));
        expect(kept.map((each) => readFileSync(join(copy.directory, each)))).toEqual([cut]);
        expect(faults[0]).toContain(kept[0]);
        const { status, stdout } = tracewright('recover', copy.directory);
        expect(stdout).toContain('has lost its end');
        expect(status).toBe(1);
      },
    );

    it.each([0.999, 0.5, 0])(
      'and that lost its end between two events says so (%d)',
      async (share) => {
        const copy = copyOf(directory);
        const all = boundaries(copy.file);
        truncateSync(copy.file, all[Math.floor((all.length - 1) * share)]);
        const found: string[] = [];
        const onFault = ({ message }: Error): number => found.push(message);
        for await (const span of readSpans(copy.file, { onFault })) expect(span.name).not.toBe('');
        expect(found).toEqual([expect.stringContaining('has lost its end')]);
        const { before, after, faults } = await recover(copy);
        expect(after).toEqual(before);
        expect(after.open).toBe(OPEN * threads);
        expect(faults).toEqual([expect.stringContaining('has lost its end')]);
      },
    );

    it('and that ends in zeros is cut there', async () => {
      const copy = copyOf(directory);
      const all = boundaries(copy.file);
      const { size } = statSync(copy.file);
      truncateSync(copy.file, all[Math.floor(all.length / 2)]! + 29);
      truncateSync(copy.file, size);
      const { spans, open } = await read(copy.file);
      // The record that is half zeros is a row, too.
      expect(await indexed(copy.file)).toEqual({ spans: spans + 1, open });
      const { after, faults } = await recover(copy);
      expect(after.open).toBe(OPEN * threads);
      expect(faults).toEqual([expect.stringContaining('has lost its end')]);
    });

    it('and that has a hole in its middle keeps its rings', async () => {
      const copy = copyOf(directory);
      const bytes = readFileSync(copy.file);
      const at = (bytes.length >> 13) << 12;
      bytes.fill(0, at, at + 4096);
      writeFileSync(copy.file, bytes);
      const { open } = await indexed(copy.file);
      expect(open).toBe(OPEN * threads);
      const { faults } = await recover(copy);
      expect(faults).toEqual([expect.stringContaining('is damaged')]);
      expect(readFileSync(copy.file).equals(bytes)).toBe(true);
      for (const ring of copy.rings) expect(existsSync(ring)).toBe(true);
    });

    it('and whose ring is filled with zeros keeps it', async () => {
      const { control } = core;
      const copy = copyOf(directory);
      const ring = copy.rings.find((each) => isWaiting(readFileSync(each)))!;
      const page = readFileSync(ring);
      const data = page.readUInt32LE(control.controlBytes);
      for (const [from, to] of [
        [0, page.length],
        [data, page.length],
        [control.openTable, data],
      ] as const) {
        const zeroed = Buffer.from(page);
        zeroed.fill(0, from, to);
        writeFileSync(ring, zeroed);
        const { faults, before, after } = await recover(copy);
        expect(after).toEqual(before);
        expect(faults).toEqual([expect.stringContaining('filled with zeros')]);
        expect(readFileSync(ring).equals(zeroed)).toBe(true);
      }
    });

    it('and that has what its rings hold gets nothing twice', () => {
      const copy = copyOf(directory);
      const pages = copy.rings.map((ring) => readFileSync(ring));
      expect(recoverTrace(copy.file).faults).toEqual([]);
      const before = readFileSync(copy.file);
      copy.rings.forEach((ring, i) => {
        writeFileSync(ring, pages[i]!);
      });
      expect(recoverTrace(copy.file).faults).toEqual([]);
      expect(readFileSync(copy.file).equals(before)).toBe(true);
      for (const ring of copy.rings) expect(existsSync(ring)).toBe(false);
    });

    it('and that is newer than its rings keeps them: what was open in them has gone on', async () => {
      const copy = copyOf(directory);
      const pages = copy.rings.map((ring) => readFileSync(ring));
      expect(recoverTrace(copy.file).faults).toEqual([]);
      copy.rings.forEach((ring, i) => {
        const page = Buffer.from(pages[i]!);
        const at = core.control.nextNumber;
        page.writeUInt32LE(page.readUInt32LE(at) - HELD, at);
        writeFileSync(ring, page);
      });
      const before = readFileSync(copy.file);
      const { faults } = await recover(copy);
      expect(faults).toEqual(
        copy.rings.map(() => expect.stringContaining('does not fit') as string),
      );
      expect(readFileSync(copy.file).equals(before)).toBe(true);
      for (const ring of copy.rings) expect(existsSync(ring)).toBe(true);
    });

    it('names a lost end in every command before it is recovered, too', () => {
      const copy = copyOf(directory);
      const all = boundaries(copy.file);
      truncateSync(copy.file, all[Math.floor(all.length / 2)]! + 29);
      for (const command of [['report'], ['dump'], ['check', '--rings'], ['recover'], ['report']]) {
        const { status, stdout, stderr } = tracewright(...command, copy.directory);
        expect({ command, said: stdout + stderr }).toEqual({
          command,
          said: expect.stringContaining('has lost its end, which began here') as string,
        });
        expect({ command, status }).toEqual({ command, status: 1 });
      }
    });
  },
);

it.runIf(process.platform === 'linux')('a later trace of the same name has lost nothing', () => {
  const copy = copyOf(left['one thread']);
  truncateSync(copy.file, statSync(copy.file).size >> 1);
  expect(recoverTrace(copy.file).faults).toHaveLength(1);
  const fd = openSync(copy.file, 'r+');
  const last = readFileSync(copy.file)[EPOCH_PACKET_BYTES - 1]!;
  writeSync(fd, Buffer.from([last ^ 1]), 0, 1, EPOCH_PACKET_BYTES - 1);
  closeSync(fd);
  expect(recoverTrace(copy.file).faults).toEqual([]);
});

it.runIf(process.platform === 'linux')(
  'a program that opens a trace is warned of what it lost',
  async () => {
    const copy = copyOf(left['one thread']);
    truncateSync(copy.file, statSync(copy.file).size >> 1);
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => warnings.push(message);
    process.on('warning', onWarning);
    // One warning in a process, however often it finds some.
    for (let i = 0; i < 2; i++) {
      copyFileSync(copy.rings[0]!, `${copy.rings[0]!}.kept`);
      expect(() => openTrace(copy.file)).toThrow('exists');
      renameSync(`${copy.rings[0]!}.kept`, copy.rings[0]!);
    }
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    expect(warnings).toEqual([expect.stringContaining('has lost its end')]);
    expect(warnings[0]).toContain(copy.file);
  },
);

it('a file without rings that ends within an event has lost its end', async () => {
  const file = join(mkdtempSync(join(folder, 'ended-')), NAME);
  const trace = openTrace(file);
  const stream = trace.stream();
  for (let n = 0; n < 3000; n++) stream.finishTrace(stream.startTrace(), 'event', { n });
  await trace.close();
  expect(tracewright('recover', file).status).toBe(0);
  truncateSync(file, statSync(file).size - 20);
  for (const command of ['report', 'dump', 'check', 'recover']) {
    expect({ command, status: tracewright(command, file).status }).toEqual({ command, status: 1 });
  }
  expect(tracewright('recover', file).stdout).toContain('has lost its end');
});

it('a piece that rotation deletes takes along what was cut off it', async () => {
  const place = mkdtempSync(join(folder, 'rotating-'));
  const [gone, stays] = ['.a.000001.heph.00000000000000ff-9.cut', '.b.000001.heph.00ff-9.cut'];
  for (const name of [gone, stays]) writeFileSync(join(place, name), 'half an event');
  const sizes = { rotateBytes: 131_072, maxBytes: 524_288, atMaxBytes: 'deleteOldest' } as const;
  const trace = openTrace(join(place, 'a.heph'), { ringBytes: 65_536, ...sizes });
  const stream = trace.stream();
  while (existsSync(join(place, 'a.000001.heph'))) {
    expect(existsSync(join(place, gone))).toBe(true);
    for (let n = 0; n < 500; n++) stream.finishTrace(stream.startTrace(), 'event', { n });
    await trace.flush();
  }
  await trace.close();
  expect(readdirSync(place).filter((name) => name.endsWith('.cut'))).toEqual([stays]);
});
