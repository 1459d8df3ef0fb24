import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { endianness, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { core } from '../../../src/core/addon.js';
import { readPackets, recoverTrace } from '../../../src/heph/index.js';
import {
  END_OFFSET,
  EPOCH_PACKET_BYTES,
  SIZE_OFFSET,
  STREAM_OFFSET,
} from '../../../src/heph/layout.js';
import { runFixture } from '../../fixtures/run-fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-claim-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const EVENTS = 20;
const { control } = core;
type Field = 'tail' | 'head' | 'claimFrom' | 'claimTo' | 'claimOffset';

const left = join(folder, 'left');
beforeAll(async () => {
  const input = {
    traceDir: join(left, 'ovni'),
    version: 3,
    hephFile: join(left, 'trace.heph'),
    count: EVENTS,
  };
  mkdirSync(left);
  await runFixture('killed.mjs', { input });
  // The drain thread may have come round before the kill.
  truncateSync(input.hephFile, EPOCH_PACKET_BYTES);
  for (const name of readdirSync(left).filter((each) => each.endsWith('.ring'))) {
    patch(join(left, name), { tail: 0, claimFrom: 0, claimTo: 0, claimOffset: 0 });
  }
});

/** A file with nothing but its epoch, and the ring of a killed process that holds all events. */
function killed() {
  const directory = mkdtempSync(join(folder, 'run-'));
  cpSync(left, directory, { recursive: true });
  const name = readdirSync(directory).find((each) => /^\.trace\.heph\..*\.ring$/.test(each))!;
  return { hephFile: join(directory, 'trace.heph'), path: join(directory, name) };
}

/** The same where all has been recovered, and the ring is back. */
function recovered() {
  const { hephFile, path } = killed();
  const page = readFileSync(path);
  expect(recoverTrace(hephFile).faults).toEqual([]);
  writeFileSync(path, page);
  return { hephFile, path };
}

function numberIn(ring: string, field: Field): number {
  const page = readFileSync(ring);
  const at = control[field];
  return Number(endianness() === 'LE' ? page.readBigUInt64LE(at) : page.readBigUInt64BE(at));
}

function patch(ring: string, fields: Partial<Record<Field, number>>): void {
  const page = readFileSync(ring);
  for (const [field, value] of Object.entries(fields)) {
    const at = control[field as Field];
    if (endianness() === 'LE') page.writeBigUInt64LE(BigInt(value), at);
    else page.writeBigUInt64BE(BigInt(value), at);
  }
  writeFileSync(ring, page);
}

/** A ring of another thread in the same stream, before the first or after it: its events have other times. */
function another(ring: string, thread: number): string {
  const path = ring.replace(
    /-(\d+)\.ring$/,
    (_, first) => `-${thread === 0 ? 0 : `9${first}`}.ring`,
  );
  const page = readFileSync(ring);
  const [first, head] = [page.readUInt32LE(control.controlBytes), numberIn(ring, 'head')];
  for (let at = first; at < first + head; at += page.readUInt32BE(at + SIZE_OFFSET)) {
    page[at + END_OFFSET - 1]! ^= 1;
  }
  writeFileSync(path, page);
  return path;
}

function eventsIn(hephFile: string): number {
  return [...readPackets(hephFile)].filter(({ kind }) => kind === 'event').length;
}

describe('a ring that says to have taken a place beyond the end of its file', () => {
  it('loses nothing, and what the file had before that place counts as lost', () => {
    const { hephFile, path } = killed();
    patch(path, {
      tail: 0,
      claimFrom: 0,
      claimTo: numberIn(path, 'head'),
      claimOffset: 2 ** 40,
    });
    const { faults, streams } = recoverTrace(hephFile);
    expect(streams).toHaveLength(1);
    expect(faults).toMatchObject([{ code: 'ERR_TRACE_FORMAT', offset: EPOCH_PACKET_BYTES }]);
    expect(faults[0]!.message).toContain('has lost its end');
    expect(eventsIn(hephFile)).toBe(EVENTS);
    expect(existsSync(path)).toBe(false);
  });
});

describe('rings of two threads in one stream', () => {
  it('lose nothing, though the counters of one are those of the other', () => {
    const { hephFile, path } = killed();
    another(path, 0);
    expect(recoverTrace(hephFile)).toMatchObject({ faults: [], streams: [{}, {}] });
    expect(eventsIn(hephFile)).toBe(2 * EVENTS);
  });
});

describe("a ring whose page is wrong, beside another ring's", () => {
  const far = 8e12;
  const pages: [string, (head: number) => Partial<Record<Field, number>>][] = [
    [
      'a place that begins long before its tail',
      () => ({ tail: far, head: far + 100, claimTo: far + 100 }),
    ],
    ['a place that ends beyond its head', (head) => ({ claimTo: head + 1 })],
    ['a head within an event', (head) => ({ head: head - 1 })],
    ['a head behind its events', (head) => ({ head: head + 100 })],
  ];
  it.each(pages.flatMap(([name, fields]) => [0, 2].map((thread) => ({ name, thread, fields }))))(
    '$name, thread $thread: costs no event of the other',
    ({ thread, fields }) => {
      const { hephFile, path } = killed();
      const wrong = another(path, thread);
      patch(wrong, { claimFrom: 0, ...fields(numberIn(path, 'head')) });
      const before = readFileSync(wrong);

      const { faults, streams } = recoverTrace(hephFile);
      expect(faults).toMatchObject([{ code: 'ERR_TRACE_FORMAT', path: wrong }]);
      expect(streams).toHaveLength(1);
      expect(eventsIn(hephFile)).toBe(EVENTS);
      expect(existsSync(path)).toBe(false);
      expect(readFileSync(wrong).equals(before)).toBe(true);
    },
  );
});

describe('a ring that notes a place in the midst of what others have written', () => {
  it.each<[string, (head: number) => Partial<Record<Field, number>>]>([
    ['for what it holds', (head) => ({ claimTo: head, claimOffset: 24 })],
    [
      'at an event, for what it holds',
      (head) => ({ claimTo: head, claimOffset: EPOCH_PACKET_BYTES + head / 2 }),
    ],
    ['at an event, for a record past the ring', () => ({ claimOffset: EPOCH_PACKET_BYTES })],
    ['within an event, for a record past the ring', () => ({ claimOffset: 24 })],
    ['that ends within an event', (head) => ({ claimTo: head - 1, claimOffset: 23 })],
  ])('%s, changes nothing there, and its events are in the file once', (_, fields) => {
    const { hephFile, path: wrong } = recovered();
    const others = another(wrong, 2);
    const before = readFileSync(hephFile);
    for (const ring of [wrong, others]) {
      patch(ring, { claimFrom: 0, claimTo: 0, ...fields(numberIn(ring, 'head')) });
    }
    expect(recoverTrace(hephFile).faults).toEqual([]);
    expect(readFileSync(hephFile).subarray(0, before.length).equals(before)).toBe(true);
    expect(eventsIn(hephFile)).toBe(2 * EVENTS);
    for (const ring of [wrong, others]) expect(existsSync(ring)).toBe(false);
  });

  it('keeps a whole last record, and cuts half of one', () => {
    const { hephFile, path: again } = recovered();
    const head = numberIn(again, 'head');
    const last = EPOCH_PACKET_BYTES + head - head / EVENTS;
    const whole = readFileSync(hephFile);
    const page = readFileSync(again);
    for (const [size, events] of [
      [whole.length, EVENTS],
      [whole.length - 1, EVENTS - 1],
      [last + 3, EVENTS - 1],
    ] as const) {
      writeFileSync(hephFile, whole.subarray(0, size));
      writeFileSync(again, page);
      patch(again, { tail: head, claimFrom: head, claimTo: head, claimOffset: last });
      expect(recoverTrace(hephFile).faults).toEqual([]);
      expect(eventsIn(hephFile)).toBe(events);
    }
  });
});

function ofStream(events: Buffer, stream: number): Buffer {
  const bytes = Buffer.from(events);
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at + SIZE_OFFSET)) {
    bytes.writeUInt32BE(stream, at + STREAM_OFFSET);
  }
  return bytes;
}

function limitFiles(bytes: number | 'unlimited'): number | null {
  const args = ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`];
  return spawnSync('prlimit', args).status;
}

/** Calls it while no file of this process can become longer. */
function whileFilesEnd<T>(bytes: number, work: () => T): T {
  const ignore = () => undefined;
  process.on('SIGXFSZ', ignore);
  expect(limitFiles(bytes)).toBe(0);
  try {
    return work();
  } finally {
    limitFiles('unlimited');
    process.off('SIGXFSZ', ignore);
  }
}

const hasPrlimit = spawnSync('prlimit', ['--version'], { stdio: 'ignore' }).status === 0;

describe.skipIf(!hasPrlimit)('a recovery without space (skipped without prlimit)', () => {
  /** So many times the events, that the notes in a ring's page lie below the limit. */
  const COPIES = 20;

  it.each([0, 1, 100])('notes no place twice, %i bytes beyond the file', (bytes) => {
    const whole = readFileSync(recovered().hephFile);
    const { hephFile, path } = killed();
    // Of another stream: what a ring holds is not in its file yet.
    const events = ofStream(whole.subarray(EPOCH_PACKET_BYTES), 7);
    const copies = Array.from({ length: COPIES }, () => events);
    const before = Buffer.concat([whole.subarray(0, EPOCH_PACKET_BYTES), ...copies]);
    writeFileSync(hephFile, before);
    // The later half: other bytes lie where the places of the two overlap.
    patch(another(path, 0), { tail: numberIn(path, 'head') / 2 });

    const { faults } = whileFilesEnd(before.length + bytes, () => recoverTrace(hephFile));
    expect(faults.map(({ message }) => /EFBIG/.test(message))).toEqual([true, true]);
    expect(recoverTrace(hephFile).faults).toEqual([]);
    expect(eventsIn(hephFile)).toBe(EVENTS * (COPIES + 1) + EVENTS / 2);
  });
});
