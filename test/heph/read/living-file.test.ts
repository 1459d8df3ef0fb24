import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { endianness } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { core } from '../../../src/core/addon.js';
import { openTrace, readPackets, recoverTrace } from '../../../src/heph/index.js';
import { COUNTER_OFFSET, EPOCH_PACKET_BYTES, SIZE_OFFSET } from '../../../src/heph/layout.js';
import { LivingPass } from '../../../src/heph/read/living-pass.js';
import { PacketCursor } from '../../../src/heph/read/packet-cursor.js';
import type { CursorOptions } from '../../../src/heph/read/packet-cursor.js';
import type { Packet } from '../../../src/heph/packet.js';
import { runFixture } from '../../fixtures/run-fixture.js';
import { eventsAmong } from '../packets-of-file.js';
import { temporaryDirectory } from '../temporary-file.js';

const directory = temporaryDirectory();
const { control } = core;

interface Living {
  packets: Packet[];
  counters: number[];
  cursor: PacketCursor;
  /** Of the packets: which are in the file. */
  inFile: boolean[];
}

function read(path: string, options: CursorOptions = {}): Living {
  const cursor = new PacketCursor(path, { living: true, ...options });
  const packets: Packet[] = [];
  const inFile: boolean[] = [];
  while (cursor.next()) {
    packets.push(cursor.packet());
    inFile.push(cursor.inFile);
  }
  cursor.close();
  const counters = eventsAmong(packets).map(({ counter }) => counter);
  return { packets, counters, cursor, inFile };
}

/** Without where they lie. */
function contents(packets: Iterable<Packet>): unknown[] {
  return [...packets].map((packet) => ({ ...packet, offset: 0 }));
}

function ringOf(path: string): string {
  const name = readdirSync(dirname(path)).find((each) => each.endsWith('.ring'));
  return join(dirname(path), name!);
}

function patch(ring: string, fields: Record<number, bigint>): void {
  const page = readFileSync(ring);
  for (const [at, value] of Object.entries(fields)) {
    if (endianness() === 'LE') page.writeBigUInt64LE(value, Number(at));
    else page.writeBigUInt64BE(value, Number(at));
  }
  writeFileSync(ring, page);
}

function numberIn(ring: string, at: number): bigint {
  const page = readFileSync(ring);
  return endianness() === 'LE' ? page.readBigUInt64LE(at) : page.readBigUInt64BE(at);
}

function upTo(count: number, first = 0): number[] {
  return Array.from({ length: count }, (_, i) => (first + i) >>> 0);
}

/** The counters in all pieces of a trace that rotates. */
function readPieces(): number[] {
  const pass = new LivingPass();
  const settled = new Map<string, number>();
  const counters: number[] = [];
  const list = () => readdirSync(directory).filter((name) => /^rotating\..*heph$/.test(name));
  for (let pieces = list().sort(); pieces.length > 0;) {
    for (const piece of pieces) {
      const since = settled.get(piece) ?? 0;
      const whole = read(join(directory, piece), { living: { pass }, since });
      settled.set(piece, whole.cursor.settled);
      counters.push(...whole.counters);
    }
    const last = pieces.at(-1)!;
    const more = list().filter((name) => !settled.has(name));
    pieces = more.length > 0 ? [last, ...more.sort()] : [];
  }
  return counters;
}

describe('a trace that this process writes', () => {
  it('is read with what its ring holds, and nothing twice', async () => {
    const path = join(directory, 'live.heph');
    const trace = openTrace(path);
    const stream = trace.stream();
    const record = (count: number): void => {
      for (let n = 0; n < count; n++) stream.finishTrace(stream.startTrace(), 'event', { n });
    };
    let settled = 0;
    let counted = 0;
    for (let round = 1; round <= 30; round++) {
      record(100);
      const whole = read(path);
      expect(whole.counters).toEqual(upTo(100 * round));
      expect(whole.cursor.state).toBe('growing');
      expect(whole.cursor.pids).toEqual([process.pid]);
      // What is settled is not seen again, and the rest goes on after it.
      const later = read(path, { since: settled });
      expect(later.counters).toEqual(upTo(100 * round - counted, counted));
      counted += later.inFile.filter(
        (isIn, i) => isIn && later.packets[i]!.kind === 'event',
      ).length;
      ({ settled } = later.cursor);
      if (round % 3 === 0) await trace.flush();
    }
    expect(settled).toBeGreaterThan(EPOCH_PACKET_BYTES);
    await trace.close();
    const ended = read(path);
    expect(ended.counters).toEqual(upTo(3000));
    expect(ended.cursor.state).toBe('ended');
    expect(ended.cursor.settled).toBe(lstatSync(path).size);
    expect(ended.inFile).not.toContain(false);
  });

  it('is read from piece to piece, while it rotates', async () => {
    const path = join(directory, 'rotating.heph');
    const trace = openTrace(path, { ringBytes: 65_536, rotateBytes: 131_072, maxBytes: 2 ** 30 });
    const stream = trace.stream();
    let n = 0;
    for (let round = 0; round < 200; round++) {
      for (let i = 0; i < 100; i++) stream.finishTrace(stream.startTrace(), 'event', { n: n++ });
      if (round % 7 === 0) await trace.flush();
      expect(readPieces()).toEqual(upTo(n));
    }
    await trace.close();
  });
});

describe('the trace of a process that was killed', () => {
  let left: string;
  beforeAll(async () => {
    left = join(mkdtempSync(join(directory, 'left-')), 'trace.heph');
    const input = { target: left, end: 'SIGKILL', places: 8 };
    await runFixture('core/open-events.mjs', { input });
  });

  function copy(): string {
    const place = mkdtempSync(join(directory, 'copy-'));
    cpSync(dirname(left), place, { recursive: true });
    return join(place, 'trace.heph');
  }

  /** Nothing of the events in the file, and the events in the ring. */
  function undrained(): { path: string; ring: string } {
    const path = copy();
    const ring = ringOf(path);
    truncateSync(path, EPOCH_PACKET_BYTES);
    const { tail, claimFrom, claimTo, claimOffset } = control;
    patch(ring, { [tail]: 0n, [claimFrom]: 0n, [claimTo]: 0n, [claimOffset]: 0n });
    return { path, ring };
  }

  it.each([
    ['as it was left', copy],
    ['before a drain', () => undrained().path],
  ])('is read as recovery completes it, and stays as it is: %s', (_, place) => {
    const path = place();
    const folder = dirname(path);
    const before = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
    const { packets, cursor, counters } = read(path);
    expect(cursor.state).toBe('died');
    expect(cursor.faults).toEqual([]);
    expect(counters).toHaveLength(16);
    const names = eventsAmong(packets).map(({ description }) => description);
    expect(names.slice(12).sort()).toEqual(['open 0', 'open 3', 'open 4', 'open 5']);
    expect(readdirSync(folder).map((name) => readFileSync(join(folder, name)))).toEqual(before);
    expect(recoverTrace(path).faults).toEqual([]);
    expect(contents(packets)).toEqual(contents(readPackets(path)));
  });

  it('is read around a place that was noted and not filled', () => {
    const { path, ring } = undrained();
    const head = numberIn(ring, control.head);
    const expected = read(path);
    // Events of another ring follow the place.
    const hole = Number(head);
    const other = Buffer.from(readFileSync(ring).subarray(numberOfData(ring)));
    const first = other.subarray(0, other.readUInt32BE(SIZE_OFFSET));
    first.writeUInt32BE(99, 8);
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(hole), first]));
    const { claimFrom, claimTo, claimOffset } = control;
    patch(ring, {
      [claimFrom]: 0n,
      [claimTo]: head,
      [claimOffset]: BigInt(EPOCH_PACKET_BYTES),
    });
    const { packets, cursor } = read(path);
    const ofRing = eventsAmong(packets).filter(({ stream }) => stream !== 99);
    expect(contents(ofRing)).toEqual(contents(eventsAmong(expected.packets)));
    expect(packets).toHaveLength(expected.packets.length + 1);
    // The place is read again later, and what follows it.
    expect(cursor.settled).toBe(EPOCH_PACKET_BYTES);
    expect(recoverTrace(path).faults).toEqual([]);
    const streams = (events: Packet[]) => eventsAmong(events).map(({ stream }) => stream);
    expect(streams([...readPackets(path)]).sort()).toEqual(streams(packets).sort());
  });

  function numberOfData(ring: string): number {
    const page = readFileSync(ring);
    return endianness() === 'LE'
      ? page.readUInt32LE(control.controlBytes)
      : page.readUInt32BE(control.controlBytes);
  }

  it('joins file and ring by counters that wrap', () => {
    const { path, ring } = undrained();
    const events = readFileSync(ring);
    let at = numberOfData(ring);
    const first = 0xffff_fffa;
    for (let n = 0; n < 12; n++) {
      events.writeUInt32BE((first + n) >>> 0, at + COUNTER_OFFSET);
      at += events.readUInt32BE(at + SIZE_OFFSET);
    }
    writeFileSync(ring, events);
    expect(read(path).counters.slice(0, 12)).toEqual(upTo(12, first));
  });

  it('is read when a recovery ends in between', () => {
    const path = undrained().path;
    const cursor = new PacketCursor(path, { living: true });
    expect(cursor.next()).toBe(true);
    expect(recoverTrace(path).faults).toEqual([]);
    const counters: number[] = [];
    while (cursor.next()) counters.push(cursor.u32(COUNTER_OFFSET));
    cursor.close();
    expect(counters).toEqual(read(path).counters);
  });

  it('is read with its rings elsewhere, where their directory is named', () => {
    const path = copy();
    const elsewhere = mkdtempSync(join(directory, 'rings-'));
    const ring = ringOf(path);
    const moved = join(elsewhere, ring.slice(dirname(ring).length + 1));
    renameSync(ring, moved);
    patch(moved, { [control.targetInode]: lstatSync(path, { bigint: true }).ino });
    expect(read(path).counters.length).toBeLessThan(16);
    expect(read(path, { living: { ringDirs: [elsewhere] } }).counters).toHaveLength(16);
  });

  it.skipIf(process.geteuid?.() !== 0)("takes no word of another user's ring", () => {
    const { path, ring } = undrained();
    chownSync(ring, 65_534, 65_534);
    expect(read(path).counters).toEqual([]);
    chownSync(path, 65_534, 65_534);
    expect(read(path).counters).toHaveLength(16);
  });

  it('leaves out a ring that contradicts itself, and says so', () => {
    const { path, ring } = undrained();
    patch(ring, { [control.head]: 2n ** 60n });
    const { counters, cursor } = read(path);
    expect(counters).toEqual([]);
    expect(cursor.faults).toMatchObject([{ code: 'ERR_TRACE_FORMAT', field: 'head' }]);
    expect(existsSync(ring)).toBe(true);
  });
});
