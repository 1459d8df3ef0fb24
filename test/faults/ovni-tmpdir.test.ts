import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkTrace } from '../../src/ovni/read/check.js';
import { recoverTrace } from '../../src/ovni/read/recover.js';
import { FaultyService } from './faulty-service.js';
import { ovniNumbers } from './numbered-traces.js';
import { mayMount, SmallDisk } from './small-disk.js';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const each of undo.splice(0)) each();
});

function smallDisk(): SmallDisk {
  const disk = SmallDisk.mount(1024)!;
  undo.push(() => {
    disk.unmount();
  });
  return disk;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tracewright-tmpdir-'));
  undo.push(() => {
    rmSync(folder, { recursive: true });
  });
  return folder;
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

function traceInto(ovniDir: string, temporary: string, version: 1 | 3): FaultyService {
  return new FaultyService(
    { ovniDir, version, options: { ringBytes: 65_536 } },
    { env: { OVNI_TMPDIR: temporary } },
  );
}

const STREAM = { 1: 'thread.1', 3: 'stream.obs' } as const;

/** A thread that has ended while OVNI_TMPDIR was full. */
async function fullWhenClosed(version: 1 | 3) {
  const disk = smallDisk();
  const temporary = join(disk.path, 'fast');
  const ovniDir = join(temporaryFolder(), 'ovni');
  const service = traceInto(ovniDir, temporary, version);
  await service.do('open');
  await service.emit(5000);
  await service.until(({ ovni }) => ovni.pendingBytes === 0);
  disk.fill();
  // As many as the ring holds.
  await service.emit(1000);
  await expect(service.do('close')).rejects.toMatchObject({ code: 'ERR_SYSTEM' });
  return { disk, temporary, ovniDir, service };
}

describe.skipIf(!mayMount).each([1, 3] as const)(
  'OVNI_TMPDIR, version %i (skipped where mounts need another user)',
  (version) => {
    it('full when the thread ends: the stream stays, and is complete once there is room', async () => {
      const { disk, temporary, ovniDir, service } = await fullWhenClosed(version);
      disk.free();
      await service.do('procFini');
      const { n, ovni } = await service.until((stats) => stats.ovni.pendingBytes === 0);
      expect(ovni).toMatchObject({ droppedEvents: 0, unwrittenBytes: 0 });
      expect(await service.end()).toEqual({ code: 0, signal: null });

      // It is in one place: procFini moves what had been written by then.
      const places = [ovniDir, temporary].flatMap(filesIn);
      expect(places.filter((name) => name === STREAM[version])).toHaveLength(1);
      expect(places.filter((name) => name.endsWith('.ring'))).toEqual([]);
      const { faults } = recoverTrace(temporary);
      expect(faults).toEqual([]);
      cpSync(temporary, ovniDir, { recursive: true });
      expect([...checkTrace(ovniDir)]).toEqual([]);
      expect(ovniNumbers(ovniDir)).toEqual(Array.from({ length: n }, (_, i) => i));
    });

    it('full until the process ends: the stream stays with its ring, and can be recovered', async () => {
      const { disk, temporary, ovniDir, service } = await fullWhenClosed(version);
      const { n, ovni } = await service.stats();
      expect(ovni.pendingBytes).toBeGreaterThan(0);
      expect(await service.end()).toEqual({ code: 0, signal: null });

      disk.free();
      expect(filesIn(ovniDir)).not.toContain(STREAM[version]);
      const recovery = recoverTrace(temporary);
      expect(recovery.faults).toEqual([]);
      expect(recovery.streams).toMatchObject([{ bytes: ovni.pendingBytes, addedRecords: 1 }]);
      cpSync(temporary, ovniDir, { recursive: true });
      expect([...checkTrace(ovniDir)]).toEqual([]);
      expect(ovniNumbers(ovniDir)).toEqual(Array.from({ length: n }, (_, i) => i));
    });

    it('and a full disk of the trace: the stream stays whole, and no half of it is moved', async () => {
      const disk = smallDisk();
      const temporary = join(temporaryFolder(), 'fast');
      const ovniDir = join(disk.path, 'ovni');
      const service = traceInto(ovniDir, temporary, version);
      await service.do('open');
      await service.emit(5000);
      disk.fill();
      await expect(service.do('close')).rejects.toMatchObject({
        code: 'ERR_SYSTEM',
        message: expect.stringContaining('ENOSPC') as string,
      });
      expect(filesIn(ovniDir).filter((name) => name !== '.cpus')).toEqual([]);
      disk.free();
      await service.do('procFini');
      expect(await service.end()).toEqual({ code: 0, signal: null });
      expect(recoverTrace(temporary)).toEqual({ streams: [], emptied: [], faults: [] });
      cpSync(temporary, ovniDir, { recursive: true });
      expect([...checkTrace(ovniDir)]).toEqual([]);
      expect(ovniNumbers(ovniDir)).toHaveLength(5000);
    });
  },
);
