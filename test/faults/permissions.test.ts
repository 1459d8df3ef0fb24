import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openTrace } from '../../src/heph/trace.js';
import { recoverTrace as recoverHeph } from '../../src/heph/recover.js';
import { procFini, procInit } from '../../src/ovni/process.js';
import { recoverTrace as recoverOvni } from '../../src/ovni/recover.js';
import { attrSet, emit } from '../../src/ovni/index.js';
import { threadFree, threadInit, threadIsReady } from '../../src/ovni/thread.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-permissions-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

let places = 0;
function place(): string {
  const path = join(folder, String(++places));
  mkdirSync(path);
  return path;
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** Files of both formats while they are written, and when they are complete. */
async function modes(umask: number, version: 1 | 3): Promise<[string, number][]> {
  const path = place();
  const before = process.umask(umask);
  try {
    const trace = openTrace(join(path, 'trace.heph'), { rotateBytes: 2 ** 22 });
    procInit(1, 'node.1', 1, { traceDir: join(path, 'ovni'), version });
    threadInit(1);
    emit('OHx', new Uint8Array(16));
    attrSet('a', 1);
    const during = filesIn(path).map((file): [string, number] => [file, modeOf(file)]);
    threadFree();
    procFini();
    await trace.close();
    return [...during, ...filesIn(path).map((file): [string, number] => [file, modeOf(file)])];
  } finally {
    process.umask(before);
  }
}

describe('permissions', () => {
  it.each([
    [0o000, 1],
    [0o000, 3],
    [0o022, 3],
    [0o077, 1],
    [0o077, 3],
  ] as const)(
    'under umask %o, version %i: rings 0600, traces 0644 less it',
    async (umask, version) => {
      const all = await modes(umask, version);
      expect(all.filter(([path]) => path.endsWith('.ring'))).toHaveLength(2);
      for (const [path, mode] of all) {
        const wanted = path.endsWith('.ring') ? 0o600 : 0o644 & ~umask;
        expect({ path, mode }).toEqual({ path, mode: wanted & ~umask });
      }
    },
  );
});

describe('a link that somebody has planted', () => {
  it.each(['error', 'replace'] as const)('in place of a Heph file, exists: %s', (exists) => {
    const path = place();
    const victim = join(path, 'victim');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, join(path, 'trace.heph'));
    expect(() => openTrace(join(path, 'trace.heph'), { exists })).toThrow(
      expect.objectContaining({ name: 'TracewrightError' }),
    );
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    // Nor one that leads to nothing yet.
    symlinkSync(join(path, 'new'), join(path, 'other.heph'));
    expect(() => openTrace(join(path, 'other.heph'), { exists })).toThrow();
    expect(existsSync(join(path, 'new'))).toBe(false);
  });

  it('in place of a piece of a series: the next number is taken', async () => {
    const path = place();
    const victim = join(path, 'victim');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, join(path, 'trace.000001.heph'));
    const trace = openTrace(join(path, 'trace.heph'), { rotateBytes: 2 ** 22 });
    await trace.close();
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(lstatSync(join(path, 'trace.000002.heph')).isFile()).toBe(true);
  });

  it.each([1, 3] as const)('in place of an ovni stream or its ring, version %i', (version) => {
    const path = place();
    const victim = join(path, 'victim');
    writeFileSync(victim, 'precious');
    const { procDir } = procInit(1, 'node.1', 1, { traceDir: join(path, 'ovni'), version });
    // Version 3 makes a directory of its own for the thread, which is the claim.
    symlinkSync(version === 1 ? victim : path, join(procDir, 'thread.1'));
    expect(() => {
      threadInit(1);
    }).toThrow(expect.objectContaining({ name: 'TracewrightError' }));
    expect(threadIsReady()).toBe(false);
    if (version === 1) {
      symlinkSync(victim, join(procDir, '.thread.2.ring'));
      expect(() => {
        threadInit(2);
      }).toThrow(expect.objectContaining({ name: 'TracewrightError', code: 'ERR_SYSTEM' }));
      symlinkSync(victim, join(procDir, '.metadata.json.new'));
      expect(procFini).toThrow(expect.objectContaining({ code: 'ERR_SYSTEM' }));
    } else {
      procFini();
    }
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(readdirSync(path).sort()).toEqual(['ovni', 'victim']);
  });

  it('among the files of a trace that is recovered', () => {
    const path = place();
    const victim = join(path, 'victim');
    writeFileSync(victim, 'precious');
    const trace = join(path, 'ovni');
    const procDir = join(trace, 'loom.node.1', 'proc.1');
    mkdirSync(procDir, { recursive: true });
    symlinkSync(victim, join(procDir, '.thread.1.ring'));
    symlinkSync(path, join(procDir, 'thread.2'));
    expect(recoverOvni(trace)).toEqual({ streams: [], emptied: [], faults: [] });
    symlinkSync(victim, join(path, '.trace.heph.1-1-1.ring'));
    writeFileSync(join(path, 'trace.heph'), '');
    expect(recoverHeph(join(path, 'trace.heph'))).toEqual({ streams: [], emptied: [], faults: [] });
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });
});

describe('a name', () => {
  it.each(['../x', 'a/b', '/etc', '', 'x\0y'])('of a loom cannot be %j', (loom) => {
    const path = place();
    expect(() => procInit(1, loom, 1, { traceDir: join(path, 'ovni') })).toThrow(
      expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field: 'loom' }),
    );
    expect(readdirSync(path)).toEqual([]);
  });

  it.each(['..', '.', '...'])('of a loom may be %j, and stays in the trace', (loom) => {
    const path = place();
    const { procDir } = procInit(1, loom, 1, { traceDir: join(path, 'ovni') });
    procFini();
    expect(procDir).toBe(`${path}/ovni/loom.${loom}/proc.1`);
    expect(readdirSync(path)).toEqual(['ovni']);
    expect(readdirSync(join(path, 'ovni'))).toEqual([`loom.${loom}`]);
  });

  it.each([1.5, -1, 0, 2 ** 31, '../1'])('of a thread or process cannot be %j', (id) => {
    const path = place();
    const traceDir = join(path, 'ovni');
    expect(() => procInit(1, 'node.1', id as number, { traceDir })).toThrow(
      expect.objectContaining({ field: 'pid' }),
    );
    procInit(1, 'node.1', 1, { traceDir });
    expect(() => {
      threadInit(id as number);
    }).toThrow(expect.objectContaining({ field: 'tid' }));
    procFini();
  });
});
