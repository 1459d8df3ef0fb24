import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkTrace, readTraceDirectory, recoverTrace } from '../../../src/ovni/index.js';
import { runFixture } from '../../fixtures/run-fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-hostile-'));
const thread = 'loom.node.1/proc.1/thread.1';
let killed: string;

beforeAll(async () => {
  killed = join(folder, 'killed');
  await runFixture('ovni/killed-state.mjs', {
    input: { traceDir: killed, version: 3, cpu: -1, states: ['OHx'], marks: [] },
  });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A copy of the trace of a killed process, and something that is none of its business. */
function copy() {
  const place = mkdtempSync(join(folder, 'copy-'));
  const traceDir = join(place, 'ovni');
  cpSync(killed, traceDir, { recursive: true });
  const outside = join(place, 'outside');
  writeFileSync(outside, 'precious');
  return { traceDir, outside, place };
}

describe.runIf(process.platform === 'linux')('a trace directory that somebody has prepared', () => {
  it.each(['stream.obs', '.stream.ring'])('%s leads elsewhere: not followed', (name) => {
    const { traceDir, outside } = copy();
    const path = join(traceDir, thread, name);
    rmSync(path);
    symlinkSync(outside, path);
    const { streams } = recoverTrace(traceDir);
    expect(streams).toEqual([]);
    expect(readFileSync(outside, 'utf8')).toBe('precious');
  });

  it('stream.json leads elsewhere: replaced, not written through', () => {
    const { traceDir, outside } = copy();
    const path = join(traceDir, thread, 'stream.json');
    rmSync(path);
    symlinkSync(outside, path);
    recoverTrace(traceDir);
    expect(readFileSync(outside, 'utf8')).toBe('precious');
  });

  it('the directory of a thread leads elsewhere: not entered', () => {
    const { traceDir, place } = copy();
    const elsewhere = join(place, 'elsewhere');
    renameSync(join(traceDir, thread), elsewhere);
    symlinkSync(elsewhere, join(traceDir, thread));
    const before = readdirSync(elsewhere);
    expect(recoverTrace(traceDir)).toEqual({ streams: [], emptied: [], faults: [] });
    expect(readdirSync(elsewhere)).toEqual(before);
  });

  it('a ring that names a file outside, with --ring-dir: not believed', () => {
    const { traceDir, outside, place } = copy();
    const rings = join(place, 'rings');
    mkdirSync(rings);
    const ring = readFileSync(join(traceDir, thread, '.stream.ring'));
    rmSync(join(traceDir, thread, '.stream.ring'));
    for (const target of [
      outside,
      join(traceDir, thread, '../../../../outside'),
      join(place, 'thread.1/stream.obs'),
    ]) {
      mkdirSync(dirname(target), { recursive: true });
      ring.fill(0, 4096, 8192);
      ring.write(target, 4096);
      writeFileSync(join(rings, 'planted.ring'), ring);
      recoverTrace(traceDir, { ringDir: rings });
      expect(readdirSync(rings)).toEqual(['planted.ring']);
    }
    expect(readFileSync(outside, 'utf8')).toBe('precious');
  });

  it.each([
    ['[', 1 << 20],
    ['{"a":', 1 << 20],
    ['{"version":3,"ovni":{"mark":{"1":', 1 << 18],
  ])('metadata of %j, repeated %i times: an error, and little memory', (piece, times) => {
    const { traceDir } = copy();
    recoverTrace(traceDir);
    const path = join(traceDir, thread, 'stream.json');
    writeFileSync(path, piece.repeat(times));
    expect(() => readTraceDirectory(traceDir)).toThrow(
      expect.objectContaining({ code: 'ERR_TRACE_FORMAT', path }),
    );
    expect([...checkTrace(traceDir)].map(({ rule }) => rule)).toContain('metadata');
  });

  it('metadata larger than is read', () => {
    const { traceDir } = copy();
    recoverTrace(traceDir);
    const path = join(traceDir, thread, 'stream.json');
    writeFileSync(path, Buffer.alloc((64 << 20) + 1, ' '));
    expect(() => readTraceDirectory(traceDir)).toThrow(/at most 67108864 are read/);
  });

  it('a ring is removed and its trace complete only when it was believed', () => {
    const { traceDir } = copy();
    const path = join(traceDir, thread, '.stream.ring');
    const ring = readFileSync(path);
    // A tail behind the head, and a head beyond all numbers.
    for (const [at, value] of [
      [192, 1n << 40n],
      [128, (1n << 64n) - 1n],
      [16, 1n << 62n],
      [48, 1n << 50n],
    ] as const) {
      const broken = Buffer.from(ring);
      broken.writeBigUInt64LE(value, at);
      writeFileSync(path, broken);
      const { streams, faults } = recoverTrace(traceDir);
      expect(streams).toEqual([]);
      expect(faults).toMatchObject([{ code: 'ERR_TRACE_FORMAT', path }]);
      expect(statSync(path).size).toBe(ring.length);
    }
  });
});
