import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { readMetafile } from '../../src/dumpi/metafile.js';
import { openRank } from '../../src/dumpi/write/rank.js';
import { readCalls } from '../../src/dumpi/read/reader.js';
import { openTrace } from '../../src/heph/write/trace.js';
import { recoverTrace as recoverHeph } from '../../src/heph/read/recover.js';
import { openReferences } from '../../src/laplace/write/references.js';
import { currentProcess } from '../../src/ovni/write/process-note.js';
import { procFini, procInit } from '../../src/ovni/write/process.js';
import { recoverTrace as recoverOvni } from '../../src/ovni/read/recover.js';
import { readTraceDirectory } from '../../src/ovni/read/trace-directory.js';
import { addCpu, attrSet, emit } from '../../src/ovni/index.js';
import { threadFree, threadInit, threadIsReady } from '../../src/ovni/write/thread.js';
import { tracewright } from '../cli/run-command.js';
import { runFixture } from '../fixtures/run-fixture.js';

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

const startTime = new Date(1e12);

/** Files and directories of these formats while they are written, and when they are complete. */
async function modes(
  umask: number,
  version: 1 | 3,
  options: { fileMode?: number } = {},
): Promise<[string, number][]> {
  const path = place();
  const all = () =>
    readdirSync(path, { recursive: true, encoding: 'utf8' })
      .map((name) => join(path, name))
      .map((each): [string, number] => [each, modeOf(each)]);
  const before = process.umask(umask);
  try {
    const trace = openTrace(join(path, 'trace.heph'), { rotateBytes: 2 ** 22, ...options });
    procInit(1, 'node.1', 1, { traceDir: join(path, 'ovni'), version, ...options });
    threadInit(1);
    addCpu(0, 0);
    emit('OHx', new Uint8Array(16));
    attrSet('a', 1);
    const rank = openRank({
      rank: 0,
      size: 1,
      directory: join(path, 'dumpi'),
      startTime,
      ...options,
    });
    rank.log('MPI_Init', { argv: [] });
    const references = openReferences(join(path, 'a.references'), options);
    const during = all();
    references.close();
    rank.close();
    threadFree();
    procFini();
    await trace.close();
    return [...during, ...all()];
  } finally {
    process.umask(before);
  }
}

/** An ovni trace that a killed process has left, to be recovered. */
async function killedIn(traceDir: string, version: 1 | 3): Promise<void> {
  const input = { traceDir, version, hephFile: join(place(), 'trace.heph'), count: 10 };
  expect((await runFixture('killed.mjs', { input })).signal).toBe('SIGKILL');
}

describe('permissions', () => {
  it.each([
    [0o000, 1],
    [0o000, 3],
    [0o022, 3],
    [0o077, 1],
    [0o077, 3],
  ] as const)(
    'under umask %o, version %i: only the user reads files and enters directories',
    async (umask, version) => {
      const all = await modes(umask, version);
      expect(all.filter(([path]) => path.endsWith('.ring'))).toHaveLength(4);
      for (const [path, mode] of all) {
        const wanted = statSync(path, { throwIfNoEntry: false })?.isDirectory() ? 0o700 : 0o600;
        expect({ path, mode }).toEqual({ path, mode: wanted });
      }
    },
  );

  it.each([
    [0o640, 0o750, 0o000, 3],
    [0o664, 0o775, 0o000, 1],
    [0o664, 0o775, 0o027, 3],
  ] as const)('with fileMode %o: directories %o, less umask %o', async (...options) => {
    const [fileMode, directoryMode, umask, version] = options;
    const isPrivate = /\.ring$|\.bin\.json$|\.names$|\.cpus$/;
    for (const [path, mode] of await modes(umask, version, { fileMode })) {
      const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
      const wanted = isPrivate.test(path) ? 0o600 : isDirectory ? directoryMode : fileMode;
      expect({ path, mode }).toEqual({ path, mode: wanted & ~umask });
    }
  });

  it.each([0o600 + 1, 0o666, 0o755, 0o400, '0640', -1])('fileMode cannot be %j', (fileMode) => {
    expect(() => openTrace(join(place(), 'x.heph'), { fileMode: fileMode as number })).toThrow(
      expect.objectContaining({ field: 'fileMode' }),
    );
  });

  it('may come from a variable, in octal digits', async () => {
    const path = place();
    for (const [text, mode] of [
      ['640', 0o640],
      ['0644', 0o644],
    ] as const) {
      process.env['TRACEWRIGHT_FILE_MODE'] = text;
      try {
        await openTrace(join(path, text)).close();
      } finally {
        delete process.env['TRACEWRIGHT_FILE_MODE'];
      }
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- no other thread runs here
      expect(modeOf(join(path, text))).toBe(mode & ~process.umask());
    }
    process.env['TRACEWRIGHT_FILE_MODE'] = '777';
    try {
      expect(() => openTrace(join(path, 'x'))).toThrow(/TRACEWRIGHT_FILE_MODE must be 0600, 0640/);
    } finally {
      delete process.env['TRACEWRIGHT_FILE_MODE'];
    }
  });

  it('of what is there already stay', async () => {
    const path = place();
    chmodSync(path, 0o755);
    mkdirSync(join(path, 'ovni'), { mode: 0o755 });
    procInit(1, 'node.1', 1, { traceDir: join(path, 'ovni') });
    procFini();
    expect([modeOf(path), modeOf(join(path, 'ovni'))]).toEqual([0o755, 0o755]);
    expect(modeOf(join(path, 'ovni', 'loom.node.1'))).toBe(0o700);
    await openTrace(join(path, 'trace.heph')).close();
    expect(modeOf(path)).toBe(0o755);
  });

  it.each([1, 3] as const)(
    'of recovered traces stay, and so do owners, version %i',
    async (version) => {
      const path = place();
      const traceDir = join(path, 'ovni');
      await killedIn(traceDir, version);
      const files = filesIn(traceDir).filter((file) => !/\/\.|\.ring$/.test(file));
      const uid = process.geteuid?.() === 0 ? 65_534 : process.geteuid!();
      for (const file of filesIn(traceDir)) {
        if (files.includes(file)) chmodSync(file, 0o644);
        chownSync(file, uid, uid);
      }
      for (const each of readdirSync(traceDir, { recursive: true, encoding: 'utf8' })) {
        if (statSync(join(traceDir, each)).isDirectory()) chownSync(join(traceDir, each), uid, uid);
      }
      expect(recoverOvni(traceDir)).toMatchObject({ faults: [], streams: [{}] });
      for (const file of files) {
        const { uid: owner, mode } = statSync(file);
        const wanted = file.endsWith('stream.json') ? 0o600 : 0o644;
        expect([file, owner, mode & 0o777]).toEqual([file, uid, wanted]);
      }
    },
  );
});

describe('a link that somebody has planted', () => {
  afterEach(() => {
    if (threadIsReady()) threadFree();
    if (currentProcess()?.finished === false) procFini();
  });

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

  it.each([
    [
      'Heph',
      ['pipe', 'link', 'directory'],
      (path: string) => openTrace(path, { exists: 'replace' }),
    ],
    // Which writes to a pipe.
    [
      'Laplace',
      ['link', 'directory'],
      (path: string) => openReferences(path, { exists: 'replace' }),
    ],
  ])(
    'in place of a %s file that is replaced: only a regular file is',
    async (_, names, replace) => {
      const path = place();
      const victim = join(path, 'victim');
      writeFileSync(victim, 'precious');
      expect(spawnSync('mkfifo', [join(path, 'pipe')]).status).toBe(0);
      symlinkSync(victim, join(path, 'link'));
      mkdirSync(join(path, 'directory'));
      for (const name of names) {
        expect(() => replace(join(path, name))).toThrow(
          expect.objectContaining({
            code: 'ERR_TRACE_EXISTS',
            message: expect.stringContaining('is not a regular file') as string,
          }),
        );
      }
      linkSync(victim, join(path, 'hard'));
      await replace(join(path, 'hard')).close();
      expect(statSync(victim).nlink).toBe(1);
      expect(readFileSync(victim, 'utf8')).toBe('precious');
      expect(readdirSync(path).sort()).toEqual(['directory', 'hard', 'link', 'pipe', 'victim']);
    },
  );

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
    }
    procFini();
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(readdirSync(path).sort()).toEqual(['ovni', 'victim']);
  });

  it.each(['symbolic link', 'hard link', 'FIFO'] as const)(
    'in place of metadata of version 1 that is being written: a %s',
    (kind) => {
      const path = place();
      const victim = join(path, 'victim');
      writeFileSync(victim, 'precious');
      const { procDir } = procInit(1, 'node.1', 1, { traceDir: join(path, 'ovni'), version: 1 });
      const fresh = join(procDir, '.metadata.json.new');
      if (kind === 'symbolic link') symlinkSync(victim, fresh);
      else if (kind === 'hard link') linkSync(victim, fresh);
      else expect(spawnSync('mkfifo', [fresh]).status).toBe(0);
      threadInit(1);
      addCpu(0, 0);
      emit('OHx', new Uint8Array(16));
      emit('OHe');
      threadFree();
      procFini();
      expect(readFileSync(victim, 'utf8')).toBe('precious');
      expect(existsSync(fresh)).toBe(false);
      expect(readTraceDirectory(join(path, 'ovni')).streams).toHaveLength(1);
    },
  );

  it.each(['loom', 'process', 'next directory'] as const)(
    'in place of a directory of an ovni trace (%s): the next place is taken',
    async (which) => {
      const path = place();
      const traceDir = join(path, 'ovni');
      // What a killed process has left elsewhere, which is not ours to complete.
      const elsewhere = join(path, 'elsewhere');
      await killedIn(elsewhere, 1);
      mkdirSync(join(traceDir, 'loom.node.1'), { recursive: true });
      if (which === 'loom') {
        rmSync(traceDir, { recursive: true });
        mkdirSync(traceDir);
        symlinkSync('../elsewhere/loom.node.1', join(traceDir, 'loom.node.1'));
      } else {
        symlinkSync('../../elsewhere/loom.node.1/proc.1', join(traceDir, 'loom.node.1', 'proc.1'));
      }
      if (which === 'next directory') symlinkSync('elsewhere', `${traceDir}.1`);
      const before = filesIn(elsewhere).sort();
      const taken = procInit(1, 'node.1', 1, { traceDir });
      expect(taken.traceDir).toBe(which === 'next directory' ? `${traceDir}.2` : `${traceDir}.1`);
      procFini();
      expect(filesIn(elsewhere).sort()).toEqual(before);
    },
  );

  it('in place of the trace directory that the user names: it is followed', () => {
    const path = place();
    mkdirSync(join(path, 'disk'));
    symlinkSync('disk', join(path, 'ovni'));
    expect(procInit(1, 'node.1', 1, { traceDir: join(path, 'ovni') }).traceDir).toBe(
      join(path, 'ovni'),
    );
    expect(readdirSync(join(path, 'disk', 'loom.node.1'))).toEqual(['proc.1']);
  });

  it.each(['symbolic link', 'link to nothing', 'hard link'] as const)(
    'in place of a metafile: a %s',
    (kind) => {
      const path = place();
      const victim = join(path, 'victim');
      writeFileSync(victim, 'precious');
      const options = { rank: 0, size: 1, directory: path, fileRoot: 'run', startTime };
      openRank(options).close();
      const [meta] = readdirSync(path).filter((name) => name.endsWith('.meta'));
      for (const file of filesIn(path)) if (file !== victim) rmSync(file);
      if (kind === 'hard link') {
        linkSync(victim, join(path, meta!));
        openRank(options).close();
        expect(readMetafile(join(path, meta!)).numprocs).toBe(1);
      } else {
        symlinkSync(kind === 'symbolic link' ? 'victim' : 'new', join(path, meta!));
        expect(() => openRank(options)).toThrow(
          expect.objectContaining({ name: 'TracewrightError', code: 'ERR_SYSTEM' }),
        );
        expect(readdirSync(path).sort()).toEqual([meta, 'victim']);
      }
      expect(readFileSync(victim, 'utf8')).toBe('precious');
    },
  );

  it('among the files of a trace that is recovered', () => {
    const path = place();
    const victim = join(path, 'victim');
    writeFileSync(victim, 'precious');
    const trace = join(path, 'ovni');
    const procDir = join(trace, 'loom.node.1', 'proc.1');
    mkdirSync(procDir, { recursive: true });
    symlinkSync(victim, join(procDir, '.thread.1.ring'));
    symlinkSync(path, join(procDir, 'thread.2'));
    const ignored = (ring: string): object => {
      const one = [expect.objectContaining({ code: 'ERR_SYSTEM', value: ring })];
      return { streams: [], emptied: [], faults: [], ignored: one, ignoredOfTrace: one };
    };
    expect(recoverOvni(trace)).toEqual(ignored(join(procDir, '.thread.1.ring')));
    symlinkSync(victim, join(path, '.trace.heph.1-1-1.ring'));
    writeFileSync(join(path, 'trace.heph'), '');
    expect(recoverHeph(join(path, 'trace.heph'))).toEqual(
      ignored(join(path, '.trace.heph.1-1-1.ring')),
    );
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });
});

describe('recovery', () => {
  it('leaves metadata alone in whose place somebody has planted a link', async () => {
    const path = place();
    const victim = join(path, 'victim');
    writeFileSync(victim, 'precious');
    const trace = join(path, 'ovni');
    await killedIn(trace, 3);
    const directory = join(trace, 'loom.node.1', 'proc.1', 'thread.1');
    const finished = join(directory, '.stream.json.finished');
    renameSync(finished, join(path, 'kept'));
    symlinkSync(victim, finished);
    const before = readFileSync(join(directory, 'stream.json'), 'utf8');
    expect(recoverOvni(trace).faults).toMatchObject([
      { name: 'TraceFormatError', path: finished, code: 'ERR_TRACE_FORMAT' },
    ]);
    expect(lstatSync(join(directory, 'stream.json')).isFile()).toBe(true);
    expect(readFileSync(join(directory, 'stream.json'), 'utf8')).toBe(before);
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    // Once it is gone the recovery ends as ever.
    renameSync(join(path, 'kept'), finished);
    expect(recoverOvni(trace)).toMatchObject({ streams: [{}], faults: [] });
    expect(readFileSync(join(directory, 'stream.json'), 'utf8')).toContain('"finished":1');
  });

  it('stays beside a metafile, whatever its fileprefix says', async () => {
    const path = place();
    const victim = join(path, 'victim');
    const input = { directory: victim, count: 10, end: 'kill' };
    const { stdout } = await runFixture('dumpi-killed.mjs', { input });
    const file = (JSON.parse(stdout) as { path: string }).path;
    const state = () => filesIn(victim).map((each) => [each, readFileSync(each, 'latin1')]);
    const before = state();
    expect(before.length).toBeGreaterThan(3);
    const prefix = basename(file, '-0000.bin');
    for (const fileprefix of [`../victim/${prefix}`, join(victim, prefix)]) {
      const trace = place();
      const metafile = readFileSync(join(victim, `${prefix}.meta`), 'utf8');
      const meta = join(trace, 'evil.meta');
      writeFileSync(meta, metafile.replace(/^fileprefix=.*$/m, `fileprefix=${fileprefix}`));
      for (const command of ['recover', 'check']) {
        const { stdout: said, stderr } = tracewright(command, trace);
        expect(`${said}${stderr}`).not.toContain(join(victim, prefix));
        expect(said).not.toContain('MPI_Send');
      }
      expect(state()).toEqual(before);
    }
    // The one beside the files, as libdumpi writes it where its fileroot has a directory.
    const meta = join(victim, `${prefix}.meta`);
    writeFileSync(
      meta,
      readFileSync(meta, 'utf8').replace('fileprefix=', 'fileprefix=out/of/this/'),
    );
    expect(readMetafile(meta).fileprefix).toBe(prefix);
    expect(tracewright('recover', meta)).toMatchObject({ status: 0 });
    expect([...readCalls(file)].filter(({ name }) => name === 'MPI_Send')).toHaveLength(10);
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
