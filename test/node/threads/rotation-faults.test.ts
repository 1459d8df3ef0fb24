import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { checkTrace as checkOvni } from '../../../src/ovni/read/check.js';
import type { ProcessStats } from '../../../src/ovni/index.js';
import { readStream } from '../../../src/ovni/read/ordered-reader.js';
import { readTraceDirectory } from '../../../src/ovni/read/trace-directory.js';
import { mayMount, SmallDisk } from '../../faults/small-disk.js';
import { TracedProcess } from '../traced-process.js';

const RING = 65_536;
const PIECE = 512 * 1024;
const STAYS = /the ovni trace does not continue in its next piece[^\n]*/;

const disks: SmallDisk[] = [];
afterEach(() => {
  for (const disk of disks.splice(0)) disk.unmount();
});

function mount(kib: number): SmallDisk {
  const disk = SmallDisk.mount(kib)!;
  disks.push(disk);
  return disk;
}

async function numbering(env: Record<string, string>): Promise<TracedProcess> {
  const service = new TracedProcess('numbering-service.mjs', {
    env: {
      TRACEWRIGHT_FORMATS: 'ovni',
      TRACEWRIGHT_RING_BYTES: String(RING),
      TRACEWRIGHT_ROTATE_BYTES: String(PIECE),
      ...env,
    },
  });
  await service.port();
  return service;
}

function piecesOf(run: string): string[] {
  const directory = join(run, 'ovni');
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => !name.startsWith('.'))
    .sort()
    .map((name) => join(directory, name));
}

const lastOf = (run: string): number => Number(piecesOf(run).at(-1)?.slice(-6) ?? 0);

async function untilPiece(run: string, number: number): Promise<void> {
  while (lastOf(run) < number) await sleep(20);
}

/** Removes what a service may be making files in meanwhile. */
function removeBeside(path: string): void {
  for (;;) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    }
  }
}

/** Both threads are in the last piece. */
async function untilBoth(run: string): Promise<void> {
  const threads = (): string[] =>
    readdirSync(piecesOf(run).at(-1)!, { recursive: true, encoding: 'utf8' }).filter((name) =>
      // Those of garbage collections have longer numbers.
      /(^|\/)thread\.\d{1,9}$/.test(name),
    );
  while (threads().length < 2) await sleep(20);
}

/** The numbers of a piece, by thread. */
function numbersOf(piece: string): number[][] {
  return readTraceDirectory(piece).streams.map(({ path, version }) => {
    const numbers: number[] = [];
    for (const { mcv, payload } of readStream(path, { version })) {
      if (mcv === 'OB.' && payload.length === 4) {
        numbers.push(Buffer.from(payload).readUInt32LE(0));
      }
    }
    return numbers;
  });
}

interface Counted {
  /** Events that each thread has emitted. */
  numbers: number[];
  stats: ProcessStats;
}

/** Ends the service; every piece must be whole, and hold each number once, but for what is counted. */
async function stop(service: TracedProcess): Promise<Counted> {
  const counted = JSON.parse(await service.get('/stop')) as Counted;
  service.kill('SIGTERM');
  expect(await service.ended()).toMatchObject({ signal: 'SIGTERM' });
  return counted;
}

function expectWhole(run: string): void {
  for (const piece of piecesOf(run)) {
    const findings = [...checkOvni(piece)].map(({ message }) => message);
    expect({ piece, findings }).toEqual({ piece, findings: [] });
  }
}

function expectAll(run: string, { numbers, stats }: Counted): void {
  const [main, worker] = numbers as [number, number];
  const written = piecesOf(run)
    .flatMap(numbersOf)
    .reduce((sum, { length }) => sum + length, 0);
  expect(written).toBe(main + worker - stats.droppedEvents);
}

describe.each(['1', '3'])('the ovni trace of a service that rotates, version %s', (version) => {
  it.skipIf(!mayMount)(
    'stays in its piece while there is no room for the next rings (needs to mount)',
    async () => {
      const rings = mount(1024);
      const service = await numbering({
        TRACEWRIGHT_OVNI_VERSION: version,
        TRACEWRIGHT_RING_DIR: rings.path,
      });
      const run = service.directory;
      await untilPiece(run, 2);
      rings.fill();
      expect((await service.warned(STAYS))[0]).toContain('ENOSPC');
      const stayed = lastOf(run);
      rings.free();
      await untilPiece(run, stayed + 2);
      const counted = await stop(service);
      const { stderr } = await service.ended();
      // Once for each thread at most.
      expect(stderr.match(new RegExp(STAYS, 'g'))!.length).toBeLessThanOrEqual(2);
      expectWhole(run);
      expectAll(run, counted);
    },
  );

  it.skipIf(!mayMount)(
    'reports that its disk works again, and counts over all pieces (needs to mount)',
    async () => {
      const disk = mount(64 * 1024);
      const run = join(disk.path, 'run');
      const service = await numbering({
        TRACEWRIGHT_OVNI_VERSION: version,
        TRACEWRIGHT_DIR: run,
      });
      await untilPiece(run, 2);
      disk.fill();
      await service.warned(/TRACEWRIGHT_TARGET_FAILS/);
      // Time for the rings to run full.
      await sleep(500);
      disk.free();
      await service.warned(/TRACEWRIGHT_TARGET_WORKS/);
      await untilPiece(run, lastOf(run) + 2);
      const counted = await stop(service);
      expect(counted.stats.droppedEvents).toBeGreaterThan(0);
      expectWhole(run);
      expectAll(run, counted);
    },
  );

  it.skipIf(spawnSync('prlimit', ['--version']).status !== 0)(
    'goes on once there are descriptors again (needs prlimit)',
    async () => {
      const service = await numbering({ TRACEWRIGHT_OVNI_VERSION: version });
      const run = service.directory;
      await untilPiece(run, 2);
      spawnSync('prlimit', ['--nofile=128', '--pid', String(service.pid)]);
      const held = service.get('/descriptors');
      expect((await service.warned(STAYS))[0]).toContain('EMFILE');
      expect(await held).toBe('released\n');
      await untilPiece(run, lastOf(run) + 2);
      const counted = await stop(service);
      expectWhole(run);
      expectAll(run, counted);
    },
  );

  it.each(['ovni', '.'])('goes on when %s is removed', async (removed) => {
    const service = await numbering({ TRACEWRIGHT_OVNI_VERSION: version });
    const run = service.directory;
    await untilPiece(run, 2);
    const before = lastOf(run);
    removeBeside(join(run, removed));
    await untilPiece(run, before + 2);
    await untilBoth(run);
    const { numbers } = await stop(service);
    expectWhole(run);
    // Both threads, to the end.
    const last = piecesOf(run)
      .flatMap(numbersOf)
      .map((each) => each.at(-1) ?? -1);
    for (const number of numbers) expect(last).toContain(number - 1);
  });
});
