import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { core } from '../../../src/core/addon.js';
import { TracewrightError } from '../../../src/core/errors.js';
import { ownIdentity } from '../../../src/core/recovery/process-identity.js';
import type { Recovery } from '../../../src/core/recovery/recovery.js';
import { openRank, recoverTrace as recoverDumpi } from '../../../src/dumpi/index.js';
import { openTrace, recoverTrace as recoverHeph } from '../../../src/heph/index.js';
import { openReferences, recoverTrace as recoverLaplace } from '../../../src/laplace/index.js';
import { recoverTrace as recoverOvni } from '../../../src/ovni/index.js';
import { tracewright } from '../../cli/run-command.js';

const root = mkdtempSync(join(tmpdir(), 'tracewright-unready-'));
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

let place = '';
let number = 0;
beforeEach(() => {
  place = join(root, `place-${++number}`);
  mkdirSync(place);
});

const NOBODY = { pid: 0, start: '0', boot: '' };
const DEAD = { pid: 2 ** 22 + 1, start: '1', boot: 'another' };

/** What a process has made of a ring by then: its file, and whose it is, if that much. */
function unreadyRing(path: string, { pid, start, boot }: typeof NOBODY, seconds = 0): string {
  const page = Buffer.alloc(core.control.bytes);
  page.writeBigUInt64LE(BigInt(pid), core.control.pid);
  page.writeBigUInt64LE(BigInt(start), core.control.processStart);
  page.write(boot, core.control.bootId);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, pid === 0 ? '' : page);
  const time = Date.now() / 1000 - seconds;
  utimesSync(path, time, time);
  return path;
}

const formats: [string, string, string, (path: string) => Recovery][] = [
  ['ovni 3', 'loom.a.1/proc.1/thread.1/.stream.ring', '.', recoverOvni],
  ['ovni 1', 'loom.a.1/proc.1/.thread.1.ring', '.', recoverOvni],
  ['Heph', '.trace.heph.1-1-1.ring', 'trace.heph', recoverHeph],
  ['DUMPI', '.run-0000.bin.ring', 'run-0000.bin', recoverDumpi],
  ['Laplace', '.trace.references.ring', 'trace.references', recoverLaplace],
];

describe('a ring whose process died before it was ready', () => {
  it.each(formats)('of %s goes by the path and by the directory', (_, ring, of, recover) => {
    const path = unreadyRing(join(place, ring), DEAD);
    expect(recover(join(place, of))).toMatchObject({ faults: [], streams: [] });
    expect(existsSync(path)).toBe(false);

    unreadyRing(path, DEAD);
    const { status, stderr } = tracewright('recover', place);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  it('takes along a stream that has no more than its beginning', () => {
    unreadyRing(join(place, 'loom.a.1/proc.1/thread.1/.stream.ring'), DEAD);
    writeFileSync(join(place, 'loom.a.1/proc.1/thread.1/stream.obs'), 'ovni\x03\0\0\0');
    unreadyRing(join(place, 'loom.b.1/proc.1/.thread.1.ring'), DEAD);
    writeFileSync(join(place, 'loom.b.1/proc.1/thread.1'), '');
    recoverOvni(place);
    expect(readdirSync(join(place, 'loom.a.1/proc.1'))).toEqual([]);
    expect(readdirSync(join(place, 'loom.b.1/proc.1'))).toEqual([]);
    unreadyRing(join(place, '.run-0000.bin.ring'), DEAD);
    writeFileSync(join(place, 'run-0000.bin'), Buffer.alloc(16));
    recoverDumpi(place);
    expect(existsSync(join(place, 'run-0000.bin'))).toBe(false);
  });

  it.each(formats)('of %s stays while its process is alive', (_, ring, of, recover) => {
    const path = unreadyRing(join(place, ring), ownIdentity());
    expect(() => recover(join(place, of))).toThrow(TracewrightError);
    expect(existsSync(path)).toBe(true);
  });

  it.each(formats)('of %s that says of nobody goes when it is old', (_, ring, of, recover) => {
    const path = unreadyRing(join(place, ring), NOBODY);
    recover(join(place, of));
    expect(existsSync(path)).toBe(true);
    unreadyRing(path, NOBODY, 60);
    recover(join(place, of));
    expect(existsSync(path)).toBe(false);
  });
});

describe('a trace is opened where a dead process has left no more than a ring', () => {
  it('Heph', async () => {
    const path = unreadyRing(join(place, '.trace.heph.1-1-1.ring'), DEAD);
    await openTrace(join(place, 'trace.heph')).close();
    expect(existsSync(path)).toBe(false);
  });

  it('DUMPI', () => {
    const startTime = new Date(2026, 0, 1);
    const name = '.dumpi-2026.01.01.00.00.00-0000.bin.ring';
    const path = unreadyRing(join(place, name), DEAD);
    openRank({ directory: place, rank: 0, size: 1, startTime }).close();
    expect(existsSync(path)).toBe(false);
  });

  it('Laplace', () => {
    const path = unreadyRing(join(place, '.trace.ring'), DEAD);
    openReferences(join(place, 'trace')).close();
    expect(existsSync(path)).toBe(false);
  });
});
