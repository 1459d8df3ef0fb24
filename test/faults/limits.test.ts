import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { checkTrace as checkOvni } from '../../src/ovni/read/check.js';
import { bytesOfPieces, piecesOf } from '../../src/heph/pieces.js';
import { FaultyService } from './faulty-service.js';
import type { Stats } from './faulty-service.js';
import { hephNumbers, outOfOrder, ovniNumbers } from './numbered-traces.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-limits-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

let places = 0;
function place(): { heph: string; ovniDir: string; path: string } {
  const path = join(folder, String(++places));
  mkdirSync(path);
  return { path, heph: join(path, 'trace.heph'), ovniDir: join(path, 'ovni') };
}

const options = { ringBytes: 65_536 };
const FAILS = 'TRACEWRIGHT_TARGET_FAILS';
const WORKS = 'TRACEWRIGHT_TARGET_WORKS';
const SOON_MS = 2000;

/** Both traces hold every event that was not dropped, in order, to the last. */
function expectWhole(heph: string, ovniDir: string, stats: Stats): void {
  const inHeph = hephNumbers(heph);
  expect(inHeph).toHaveLength(stats.n - stats.heph.dropped.ringFull);
  expect(outOfOrder(inHeph)).toBeUndefined();
  expect(inHeph.at(-1)).toBe(stats.n - 1);
  const inOvni = ovniNumbers(ovniDir);
  expect(inOvni).toHaveLength(stats.n - stats.ovni.droppedEvents);
  expect(outOfOrder(inOvni)).toBeUndefined();
  expect(inOvni.at(-1)).toBe(stats.n - 1);
  expect([...checkOvni(ovniDir)]).toEqual([]);
}

function has(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}

describe.skipIf(!has('prlimit'))('a file size limit (skipped without prlimit)', () => {
  it.each([1, 3] as const)('that is reached and lifted, ovni version %i', async (version) => {
    const { heph, ovniDir } = place();
    const service = new FaultyService({ heph, ovniDir, version, options });
    await service.do('open');
    await service.emit(1000);
    const limit = (bytes: string) =>
      spawnSync('prlimit', ['--pid', String(service.pid), `--fsize=${bytes}:unlimited`]).status;
    expect(limit('200000')).toBe(0);
    const { longest } = await service.emit(60_000);
    expect(longest).toBeLessThan(SOON_MS);
    await service.told(() => service.warnings.length === 2);
    expect(service.messages.join()).toContain('EFBIG');
    expect(limit('unlimited')).toBe(0);
    await service.told(() => service.warnings.length === 4);
    expect(service.warnings).toEqual([FAILS, FAILS, WORKS, WORKS]);
    await service.emit(1000);
    const stats = await service.do<Stats>('close');
    expect(stats.heph.dropped.ringFull).toBeGreaterThan(0);
    expect(await service.end()).toEqual({ code: 0, signal: null });
    expectWhole(heph, ovniDir, stats);
  });
});

describe('a process without a descriptor left', () => {
  it('goes on with the traces that it has, and cannot open one', async () => {
    const { heph, ovniDir } = place();
    const service = new FaultyService({ heph, ovniDir, options }, { shell: 'ulimit -n 80' });
    await service.do('open');
    expect(await service.do('exhaust')).toMatchObject({ code: 'EMFILE' });
    await service.emit(60_000);
    await service.do('release');
    const stats = await service.do<Stats>('close');
    expect(await service.end()).toEqual({ code: 0, signal: null });
    expect(stats.heph.dropped.ringFull + stats.ovni.droppedEvents).toBe(0);
    expectWhole(heph, ovniDir, stats);
  });

  it.each([
    [4, 0],
    [1, 1],
  ])('goes on in the last piece of a trace of %i MiB', async (mib, atLeastDropped) => {
    const { heph } = place();
    const maxBytes = mib * 2 ** 20;
    const rotating = { ...options, maxBytes, rotateBytes: 2 ** 18 };
    const service = new FaultyService({ heph, options: rotating }, { shell: 'ulimit -n 80' });
    await service.do('open');
    await service.emit(mib * 15_000);
    expect(await service.do('exhaust')).toMatchObject({ code: 'EMFILE' });
    const before = piecesOf(heph).at(-1);
    await service.emit(30_000);
    expect(piecesOf(heph).at(-1)).toBe(before);
    expect(bytesOfPieces(heph)).toBeLessThanOrEqual(maxBytes);
    await service.do('release');
    await service.emit(10_000);
    const { n, heph: stats } = await service.do<Stats>('close');
    expect(await service.end()).toEqual({ code: 0, signal: null });
    expect(Math.min(stats.dropped.ringFull, atLeastDropped)).toBe(atLeastDropped);
    if (atLeastDropped === 0) expect(stats.dropped.ringFull).toBe(0);
    const numbers = piecesOf(heph).flatMap(hephNumbers);
    expect(outOfOrder(numbers)).toBeUndefined();
    expect(numbers.at(-1)).toBe(n - 1);
    expect(bytesOfPieces(heph)).toBeLessThanOrEqual(maxBytes);
    expect(piecesOf(heph).length).toBeGreaterThan(1);
  });

  it('has no trace and lives, and has one as soon as there are descriptors', async () => {
    const { heph, ovniDir } = place();
    const service = new FaultyService({ heph, ovniDir, options }, { shell: 'ulimit -n 80' });
    await service.do('exhaust');
    await expect(service.do('open')).rejects.toMatchObject({
      code: 'ERR_SYSTEM',
      message: expect.stringContaining('EMFILE') as string,
    });
    expect(existsSync(heph)).toBe(false);
    await service.do('release');
    await service.do('open');
    await service.emit(100);
    const stats = await service.do<Stats>('close');
    expect(await service.end()).toEqual({ code: 0, signal: null });
    expectWhole(heph, ovniDir, stats);
  });
});

describe.skipIf(process.getuid?.() !== 0 || !has('setpriv'))(
  'a directory that must not be written to (skipped unless root with setpriv)',
  () => {
    it('is an error of the opening; the service goes on', async () => {
      const { path, heph, ovniDir } = place();
      chmodSync(folder, 0o755);
      chmodSync(path, 0o555);
      const wrapper = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
      for (const input of [{ heph }, { ovniDir }]) {
        const service = new FaultyService({ ...input, options }, { wrapper, cwd: '/' });
        await expect(service.do('open')).rejects.toMatchObject({
          code: 'ERR_SYSTEM',
          message: expect.stringContaining('EACCES') as string,
        });
        chownSync(path, 65534, 65534);
        chmodSync(path, 0o755);
        await service.do('open');
        await service.emit(10);
        await service.do('close');
        expect(await service.end()).toEqual({ code: 0, signal: null });
        chownSync(path, 0, 0);
        chmodSync(path, 0o555);
      }
      expect(hephNumbers(heph)).toHaveLength(10);
      expect(ovniNumbers(ovniDir)).toHaveLength(10);
    });
  },
);

const shim = join(folder, 'failing-writes.so');
const compiled =
  process.platform === 'linux' &&
  spawnSync('c++', [
    '-std=c++17',
    '-shared',
    '-fPIC',
    '-o',
    shim,
    fileURLToPath(new URL('../../native/test/preload/failing_writes.cc', import.meta.url)),
    '-ldl',
  ]).status === 0;

describe.skipIf(!compiled)('a disk that answers EIO (skipped without Linux and a compiler)', () => {
  it('and works again: everything that was committed is there, in order', async () => {
    const { path, heph, ovniDir } = place();
    const onOff = join(folder, 'broken');
    const service = new FaultyService(
      { heph, ovniDir, options },
      {
        env: {
          LD_PRELOAD: shim,
          TRACEWRIGHT_TEST_SWITCH: onOff,
          TRACEWRIGHT_TEST_BROKEN: path,
        },
      },
    );
    await service.do('open');
    await service.emit(5000);
    writeFileSync(onOff, '');
    const { longest } = await service.emit(30_000);
    expect(longest).toBeLessThan(SOON_MS);
    await service.told(() => service.warnings.length === 2);
    expect(service.messages.join()).toContain('EIO');
    rmSync(onOff);
    await service.told(() => service.warnings.length === 4);
    expect(service.warnings).toEqual([FAILS, FAILS, WORKS, WORKS]);
    await service.emit(5000);
    const stats = await service.do<Stats>('close');
    expect(await service.end()).toEqual({ code: 0, signal: null });
    expectWhole(heph, ovniDir, stats);
  });

  it('to the end: what the rings hold is recovered', async () => {
    const { path, heph, ovniDir } = place();
    const onOff = join(folder, 'broken-for-good');
    const service = new FaultyService(
      { heph, ovniDir, options },
      {
        env: {
          LD_PRELOAD: shim,
          TRACEWRIGHT_TEST_SWITCH: onOff,
          TRACEWRIGHT_TEST_BROKEN: path,
        },
      },
    );
    await service.do('open');
    await service.emit(100);
    writeFileSync(onOff, '');
    await service.emit(200);
    await service.told(() => service.warnings.length === 2);
    const stats = await service.stats();
    service.kill('SIGKILL');
    await service.ended();
    rmSync(onOff);
    const { recoverTrace: recoverHeph } = await import('../../src/heph/read/recover.js');
    const { recoverTrace: recoverOvni } = await import('../../src/ovni/read/recover.js');
    recoverHeph(heph);
    recoverOvni(ovniDir);
    expectWhole(heph, ovniDir, stats);
    expect(stats.heph.dropped.ringFull).toBe(0);
  });
});
