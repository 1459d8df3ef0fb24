import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readPackets } from '../../../src/heph/read/reader.js';
import { readStream } from '../../../src/ovni/read/ordered-reader.js';
import { runFixture } from '../../fixtures/run-fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-killed-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The control page, read by its own offsets: what native/ring/control_page.h promises to others. */
function readControlPage(bytes: Buffer) {
  const text = (at: number, size: number): string =>
    bytes.toString('utf8', at, bytes.indexOf(0, at) < at + size ? bytes.indexOf(0, at) : at + size);
  const u64 = (at: number): number => Number(bytes.readBigUInt64LE(at));
  return {
    magic: bytes.toString('latin1', 0, 8),
    version: bytes.readUInt32LE(8),
    controlBytes: bytes.readUInt32LE(12),
    capacity: u64(16),
    format: text(24, 16),
    targetKind: bytes.readUInt32LE(40),
    stampOffset: bytes.readUInt32LE(44),
    baseOffset: u64(48),
    pid: Number(bytes.readBigInt64LE(56)),
    processStart: u64(64),
    bootId: text(72, 48),
    head: u64(128),
    lastStamp: bytes.readBigUInt64LE(136),
    tail: u64(192),
    claim: { from: u64(384), to: u64(392), offset: u64(400) },
    target: text(4096, 4096),
    finishFrom: text(8192, 4096),
    finishTo: text(12_288, 4096),
  };
}

/** Ring position `from` to `to`, out of the ring's file. */
function content(
  bytes: Buffer,
  page: ReturnType<typeof readControlPage>,
  from: number,
  to: number,
): Buffer {
  const piece = Buffer.alloc(to - from);
  for (let at = from; at < to;) {
    const inside = at % page.capacity;
    const end = Math.min(page.capacity, inside + (to - at));
    bytes.copy(piece, at - from, page.controlBytes + inside, page.controlBytes + end);
    at += end - inside;
  }
  return piece;
}

function findRing(directory: string, prefix = ''): string {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ring') && name.startsWith(prefix),
  );
  expect(names).toHaveLength(1);
  return join(directory, names[0]!);
}

describe.runIf(process.platform === 'linux')('the rings of a process that was killed', () => {
  // Once while all is still in the ring, and once with megabytes written and wrapped around.
  it.each([
    [500, 3],
    [500, 1],
    [200_000, 3],
    [200_000, 1],
  ] as const)('after %i events, version %i', async (count, version) => {
    const place = mkdtempSync(join(folder, 'run-'));
    const traceDir = join(place, 'ovni');
    const hephFile = join(place, 'trace.heph');
    const { signal, stdout } = await runFixture('killed.mjs', {
      input: { traceDir, version, hephFile, count },
    });
    expect(signal).toBe('SIGKILL');
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const { pid } = JSON.parse(stdout) as { pid: number };

    const ovniRing = readFileSync(findRing(traceDir));
    const ovni = readControlPage(ovniRing);
    const procDir = join(traceDir, 'loom.node.1/proc.1/thread.1');
    expect(ovni).toMatchObject({
      magic: 'TWRING\r\n',
      version: 3,
      capacity: 2 ** 20,
      format: `ovni ${version}`,
      targetKind: 1,
      stampOffset: 4,
      baseOffset: version === 3 ? 8 : 0,
      pid,
      bootId,
      target: version === 3 ? join(procDir, 'stream.obs') : procDir,
      finishFrom: version === 3 ? join(procDir, '.stream.json.finished') : '',
      finishTo: version === 3 ? join(procDir, 'stream.json') : '',
    });
    expect(ovni.processStart).toBeGreaterThan(0);
    expect(ovniRing.length).toBe(ovni.controlBytes + ovni.capacity);
    expect(ovni.head - ovni.tail).toBeLessThanOrEqual(ovni.capacity);
    // What recovery does: write what is not surely there at its place, and cut off what is behind.
    const stream = readFileSync(ovni.target);
    const whole = Buffer.alloc(ovni.baseOffset + ovni.head);
    stream.copy(whole);
    content(ovniRing, ovni, ovni.tail, ovni.head).copy(whole, ovni.baseOffset + ovni.tail);
    const completed = join(place, 'completed');
    writeFileSync(completed, whole);
    const numbers: number[] = [];
    let last = 0n;
    for (const event of readStream(completed, { version })) {
      if (event.mcv === 'OB.') numbers.push(Buffer.from(event.payload).readUInt32LE(0));
      last = event.clock;
    }
    expect(numbers.length).toBe(count);
    expect(numbers.every((number, i) => number === i)).toBe(true);
    expect(ovni.lastStamp).toBe(last);

    const hephRing = readFileSync(findRing(place, '.trace.heph'));
    const heph = readControlPage(hephRing);
    expect(heph).toMatchObject({
      magic: 'TWRING\r\n',
      format: 'heph',
      targetKind: 2,
      stampOffset: 32,
      pid,
      bootId,
      target: hephFile,
    });
    // The chunk that was on its way goes to the place that was noted for it, the rest to the end.
    let file = readFileSync(hephFile);
    const { claim } = heph;
    let tail = heph.tail;
    if (claim.to > tail) {
      const piece = content(hephRing, heph, tail, claim.to);
      const grown = Buffer.alloc(Math.max(file.length, claim.offset + claim.to - claim.from));
      file.copy(grown);
      piece.copy(grown, claim.offset + tail - claim.from);
      file = grown;
      tail = claim.to;
    }
    writeFileSync(completed, Buffer.concat([file, content(hephRing, heph, tail, heph.head)]));
    const counters: number[] = [];
    for (const packet of readPackets(completed)) {
      if (packet.kind === 'event') counters.push(packet.counter);
    }
    expect(counters.length).toBe(count);
    expect(counters.every((counter, i) => counter === i)).toBe(true);
  });
});
