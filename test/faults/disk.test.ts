import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TargetFault } from '../../src/core/ring/target-health.js';
import { checkTrace as checkHeph } from '../../src/heph/read/check.js';
import { openTrace } from '../../src/heph/write/trace.js';
import { checkTrace as checkOvni } from '../../src/ovni/read/check.js';
import { FaultyService } from './faulty-service.js';
import { hephNumbers, outOfOrder, ovniNumbers } from './numbered-traces.js';
import { mayMount, SmallDisk } from './small-disk.js';

const disks: SmallDisk[] = [];
afterEach(() => {
  for (const disk of disks.splice(0)) disk.unmount();
});

function smallDisk(kib: number): SmallDisk {
  const disk = SmallDisk.mount(kib)!;
  disks.push(disk);
  return disk;
}

/** A ring of the smallest size, so that little is enough to fill it. */
const options = { ringBytes: 65_536 };
const FAILS = 'TRACEWRIGHT_TARGET_FAILS';
const WORKS = 'TRACEWRIGHT_TARGET_WORKS';
/** Far above what a write of a ring takes, far below any wait. */
const SOON_MS = 2000;
/** Until a trace must have got over what was done to it. */
const LONGEST_MS = 20_000;
const napping = new Int32Array(new SharedArrayBuffer(4));

/** What is wrong with a Heph file, gaps apart: those are where events were dropped. */
function hephFindings(path: string): string[] {
  return [...checkHeph(path)]
    .filter(({ rule }) => !rule.startsWith('counter') && !rule.startsWith('converter-'))
    .map(({ rule, message }) => `${rule}: ${message}`);
}

function ringsIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ring'),
  );
}

it.skipIf(!mayMount)('a disk that was full while nobody could hear of it is told of', async () => {
  const disk = smallDisk(1024);
  const told: TargetFault[] = [];
  const trace = openTrace(join(disk.path, 'trace.heph'), {
    ...options,
    onFault: (fault) => told.push(fault),
  });
  const stream = trace.stream();
  const span = stream.span('event', { n: 'u64' });
  const emit = (count: number) => {
    for (let n = 0; n < count; n++) span.finish(stream.startTrace(), n);
  };
  emit(10);
  // Without a turn of the event loop in between.
  disk.fill();
  emit(5000);
  expect(trace.stats().dropped.ringFull).toBeGreaterThan(0);
  disk.free();
  const from = Date.now();
  while (trace.stats().pending.events > 0 && Date.now() - from < LONGEST_MS) {
    Atomics.wait(napping, 0, 0, 5);
  }
  expect(trace.stats().pending.events).toBe(0);
  expect(told).toEqual([]);
  await expect.poll(() => told.length, { timeout: LONGEST_MS }).toBe(2);
  expect(told).toMatchObject([
    { over: false, code: 'ENOSPC' },
    { over: true, dropped: trace.stats().dropped.ringFull },
  ]);
  await trace.close();
});

// Both formats at once: two targets, each with a voice of its own.
describe.skipIf(!mayMount)('a full disk (skipped where mounts need another user)', () => {
  it.each([1, 3] as const)('that is freed again, ovni version %i', async (version) => {
    const disk = smallDisk(2048);
    const heph = join(disk.path, 'trace.heph');
    const ovniDir = join(disk.path, 'ovni');
    const service = new FaultyService({ heph, ovniDir, version, options });
    await service.do('open');
    await service.emit(1000);
    disk.fill();
    const { longest } = await service.emit(40_000);
    expect(longest).toBeLessThan(SOON_MS);
    const full = await service.until(
      ({ heph, ovni }) => heph.dropped.ringFull > 0 && ovni.droppedEvents > 0,
    );
    await service.told(() => service.warnings.length === 2);
    expect(service.messages.join()).toContain('ENOSPC');
    // Told once, however long it lasts.
    await service.emit(40_000);
    expect(service.warnings).toEqual([FAILS, FAILS]);
    expect(full.heph.lastError).toContain('No space left');
    expect(full.ovni.lastError).toContain('No space left');

    disk.free();
    await service.told(() => service.warnings.length === 4);
    expect(service.warnings).toEqual([FAILS, FAILS, WORKS, WORKS]);
    await service.emit(2000);
    const stats = await service.do<Awaited<ReturnType<typeof service.stats>>>('close');
    expect(await service.end()).toEqual({ code: 0, signal: null });

    expect(hephFindings(heph)).toEqual([]);
    const inHeph = hephNumbers(heph);
    expect(inHeph).toHaveLength(stats.n - stats.heph.dropped.ringFull);
    expect(stats.heph.dropped.events).toBe(stats.heph.dropped.ringFull);
    expect(outOfOrder(inHeph)).toBeUndefined();
    expect(inHeph.slice(-2000)).toEqual(Array.from({ length: 2000 }, (_, i) => stats.n - 2000 + i));

    expect([...checkOvni(ovniDir)]).toEqual([]);
    const inOvni = ovniNumbers(ovniDir);
    expect(inOvni).toHaveLength(stats.n - stats.ovni.droppedEvents);
    expect(outOfOrder(inOvni)).toBeUndefined();
    expect(inOvni.at(-1)).toBe(stats.n - 1);
    expect(ringsIn(disk.path)).toEqual([]);
  });

  it('is told to the handler, and to nobody else, where there is one', async () => {
    const disk = smallDisk(1024);
    const heph = join(disk.path, 'trace.heph');
    const service = new FaultyService({ heph, options, handler: true });
    await service.do('open');
    disk.fill();
    await service.emit(10_000);
    await service.told(() => service.faults.length === 1);
    disk.free();
    await service.told(() => service.faults.length === 2);
    expect(service.faults).toEqual([
      expect.objectContaining({ over: false, target: heph, code: 'ENOSPC' }),
      expect.objectContaining({ over: true, target: heph }),
    ]);
    expect(service.faults[1]!.dropped).toBeGreaterThan(0);
    await service.do('close');
    expect(await service.end()).toEqual({ code: 0, signal: null });
    expect(service.warnings).toEqual([]);
    expect(service.stderr).toBe('');
  });

  it('where the ring finds no room is an error of the opening, and leaves nothing', async () => {
    const disk = smallDisk(1024);
    const rings = smallDisk(128);
    const heph = join(disk.path, 'trace.heph');
    rings.fill();
    const service = new FaultyService({ heph, options: { ...options, ringDir: rings.path } });
    await expect(service.do('open')).rejects.toMatchObject({ code: 'ERR_SYSTEM' });
    expect(existsSync(heph)).toBe(false);
    rings.free();
    await service.do('open');
    await service.emit(10);
    await service.do('close');
    await service.end();
    expect(hephNumbers(heph)).toHaveLength(10);
  });

  it.each([1, 3] as const)('likewise of an ovni thread, version %i', async (version) => {
    const disk = smallDisk(1024);
    const rings = smallDisk(128);
    const ovniDir = join(disk.path, 'ovni');
    rings.fill();
    const service = new FaultyService({
      ovniDir,
      version,
      options: { ...options, ringDir: rings.path },
    });
    await expect(service.do('open')).rejects.toMatchObject({ code: 'ERR_SYSTEM' });
    expect(await service.end()).toEqual({ code: 0, signal: null });
    const left = readdirSync(disk.path, { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => name.includes('thread'))).toEqual([]);
  });

  it('of read-only mounts: an open trace lives on, a new one is an error', async () => {
    const disk = smallDisk(2048);
    expect(disk.remount('ro')).toBe(true);
    const service = new FaultyService({ heph: join(disk.path, 'trace.heph'), options });
    await expect(service.do('open')).rejects.toMatchObject({
      code: 'ERR_SYSTEM',
      message: expect.stringContaining('EROFS') as string,
    });
    expect(disk.remount('rw')).toBe(true);
    await service.do('open');
    await service.emit(100);
    await service.do('close');
    expect(await service.end()).toEqual({ code: 0, signal: null });
  });
});

describe('a directory that is removed under its trace', () => {
  it.each([1, 3] as const)('is told once, and the service goes on, version %i', async (version) => {
    const folder = mkdtempSync(join(tmpdir(), 'tracewright-removed-'));
    const place = join(folder, 'place');
    mkdirSync(place);
    const service = new FaultyService({
      heph: join(place, 'trace.heph'),
      ovniDir: join(place, 'ovni'),
      version,
      options,
    });
    await service.do('open');
    await service.emit(100);
    await service.until(({ heph, ovni }) => heph.pending.events === 0 && ovni.pendingBytes === 0);
    rmSync(place, { recursive: true });
    const { longest } = await service.emit(40_000);
    expect(longest).toBeLessThan(SOON_MS);
    await service.told(() => service.warnings.length === 2);
    expect(service.warnings).toEqual([FAILS, FAILS]);
    const { heph, ovni } = await service.stats();
    expect(heph.dropped.ringFull).toBeGreaterThan(0);
    expect(ovni.droppedEvents).toBeGreaterThan(0);
    expect(heph.lastError).toContain('No such file');
    expect(await service.end()).toEqual({ code: 0, signal: null });
    expect(existsSync(place)).toBe(false);
    rmSync(folder, { recursive: true, force: true });
  });
});
