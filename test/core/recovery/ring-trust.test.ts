import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { RingFile } from '../../../src/core/recovery/ring-file.js';
import { doubtAbout } from '../../../src/core/recovery/ring-trust.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { recoverTrace } from '../../../src/heph/read/recover.js';
import { openTrace } from '../../../src/heph/write/trace.js';
import { openReferences } from '../../../src/laplace/write/references.js';
import { tracewright } from '../../cli/run-command.js';
import type { Run } from '../../cli/run-command.js';
import { runFixture } from '../../fixtures/run-fixture.js';

const COUNT = 20;
const ALICE = 65_533;
const MALLORY = 65_534;

const isRoot = process.geteuid?.() === 0;
/** Only root can make files of several users. */
const asRoot = isRoot ? it : it.skip;
if (!isRoot) console.warn('not root: the tests with files of several users are skipped');

const root = mkdtempSync(join(tmpdir(), 'tracewright-trust-'));
chmodSync(root, 0o755);
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

let folders = 0;

function folder(uid: number, mode: number): string {
  const path = join(root, String(++folders));
  mkdirSync(path);
  chownSync(path, uid, uid);
  chmodSync(path, mode);
  return path;
}

interface Killed {
  file: string;
  ringDir: string;
}

/** A Heph trace of a killed process of a user, with its rings in a directory of their own. */
async function killed(uid: number, place: string, ringDir: string): Promise<Killed> {
  const file = join(place, 'trace.heph');
  const input = { file, ringDir, count: COUNT };
  const { signal, stderr } = await runFixture('core/killed-heph.mjs', { input, uid });
  expect([signal, stderr]).toEqual(['SIGKILL', '']);
  expect(ringsIn(ringDir)).toHaveLength(1);
  return { file, ringDir };
}

function ringsIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.ring'))
    .map((name) => join(directory, name));
}

function eventsOf(file: string): number {
  return [...readPackets(file)].filter(({ kind }) => kind === 'event').length;
}

function own(path: string, uid: number, mode = 0o600): string {
  chownSync(path, uid, uid);
  chmodSync(path, mode);
  return path;
}

/** Everything that a user can put into a shared directory under the name of a ring. */
function plant(directory: string, forged: string): string[] {
  const at = (name: string) => join(directory, `${name}.ring`);
  writeFileSync(at('empty'), '');
  writeFileSync(at('other'), 'no ring');
  copyFileSync(forged, at('forged'));
  writeFileSync(at('huge'), '');
  truncateSync(at('huge'), 2 ** 36);
  mkdirSync(at('directory'));
  symlinkSync(forged, at('link'));
  symlinkSync('nowhere', at('dangling'));
  for (const name of ['pipe', 'device']) {
    const type = name === 'pipe' ? ['p'] : ['c', '1', '3'];
    expect(spawnSync('mknod', [at(name), ...type]).status).toBe(0);
  }
  const regular = ['empty', 'other', 'forged', 'huge'].map(at);
  for (const path of [...regular, at('directory'), at('pipe'), at('device')]) own(path, MALLORY);
  return regular;
}

describe('a directory for rings that users share', () => {
  asRoot(
    'a file of another user in it changes nothing, whatever it is',
    async () => {
      const shared = folder(0, 0o1777);
      const { file } = await killed(0, folder(0, 0o755), shared);
      const [ring] = ringsIn(shared);
      const planted = plant(shared, ring!);

      const warnings: string[] = [];
      const onWarning = ({ message }: Error) => warnings.push(message);
      process.on('warning', onWarning);
      for (const name of ['one.heph', 'two.heph']) {
        const trace = openTrace(join(root, name), { ringDir: shared });
        trace.stream().finishTrace(trace.stream().startTrace(), 'event');
        await trace.close();
        expect(eventsOf(join(root, name))).toBe(1);
      }
      openReferences(join(root, 'references'), { ringDir: shared }).close();
      await new Promise(setImmediate);
      process.off('warning', onWarning);
      expect(warnings).toEqual([
        expect.stringMatching(/\/\w+\.ring is ignored as a ring: it .*, and so are \d others$/),
      ]);

      const ran = tracewright('recover', file, '--ring-dir', shared);
      expect(ran).toMatchObject({ status: 0 });
      expect(ran.stdout).toMatch(/1 stream completed/);
      expect(ran.stderr).toMatch(/is ignored as a ring: it /);
      expect(ran.stdout).toMatch(/, 1 ring of it ignored/);
      expect(eventsOf(file)).toBe(COUNT);
      expect(existsSync(ring!)).toBe(false);
      for (const path of planted) expect(existsSync(path)).toBe(true);
    },
    60_000,
  );

  asRoot('an unprivileged user completes its own trace beside them', async () => {
    const shared = folder(0, 0o1777);
    const { file } = await killed(ALICE, folder(ALICE, 0o755), shared);
    plant(shared, ringsIn(shared)[0]!);
    const input = { file, ringDir: shared };
    const { code, stdout, stderr } = await runFixture('core/recovering-heph.mjs', {
      input,
      uid: ALICE,
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ streams: 1, faults: [], ignored: 8 });
    expect(eventsOf(file)).toBe(COUNT);
  });
});

describe("root, over a trace of another user's", () => {
  const recover = ({ file, ringDir }: Killed) => recoverTrace(file, { ringDir });

  asRoot.each([
    ['whose ring lies where only that user can put it', ALICE, 0o700, undefined],
    ['whose ring lies in a directory with the sticky bit', 0, 0o1777, undefined],
    ['whose ring lies where others can put it', 0, 0o777, /others can put and replace/],
    ['whose ring lies in a directory of a third user', MALLORY, 0o755, /of another user/],
  ])('%s', async (_, uid, mode, doubt) => {
    const rings = folder(ALICE, 0o700);
    const left = await killed(ALICE, folder(ALICE, 0o755), rings);
    chownSync(rings, uid, uid);
    chmodSync(rings, mode);
    const before = readFileSync(left.file);
    const { streams, faults, ignored } = recover(left);
    expect(faults).toEqual([]);
    if (doubt === undefined) {
      expect([streams.length, ignored]).toEqual([1, undefined]);
      expect(eventsOf(left.file)).toBe(COUNT);
      return;
    }
    expect(streams).toEqual([]);
    expect(ignored?.map(({ message }) => message)).toEqual([expect.stringMatching(doubt)]);
    expect(readFileSync(left.file)).toEqual(before);
    expect(ringsIn(rings)).toHaveLength(1);
  });

  asRoot('that a third user has forged a ring for', async () => {
    const left = await killed(ALICE, folder(ALICE, 0o755), folder(ALICE, 0o1777));
    const [ring] = ringsIn(left.ringDir);
    own(ring!, MALLORY);
    const before = readFileSync(left.file);
    expect(recover(left)).toMatchObject({ streams: [], ignored: [{ value: ring }] });
    expect(readFileSync(left.file)).toEqual(before);
  });

  asRoot('next to which the ring lies under its name', async () => {
    const place = folder(ALICE, 0o755);
    const { file } = await killed(ALICE, place, folder(ALICE, 0o700)).then((left) => {
      const [ring] = ringsIn(left.ringDir);
      renameSync(ring!, join(place, basename(ring!)));
      return left;
    });
    const [ring] = ringsIn(place);
    own(ring!, MALLORY);
    expect(recoverTrace(file)).toMatchObject({ streams: [], ignored: [{}] });
    own(ring!, ALICE, 0o622);
    expect(recoverTrace(file)).toMatchObject({ streams: [], ignored: [{}] });
    own(ring!, ALICE);
    expect(recoverTrace(file)).toMatchObject({ streams: [{}] });
    expect(eventsOf(file)).toBe(COUNT);
  });
});

describe('a volume that is open to all', () => {
  asRoot.each([
    ['its owner', ALICE],
    ['root in a container', 0],
  ])('without the sticky bit works for %s', async (_, uid) => {
    const volume = folder(0, 0o777);
    const { file } = await killed(uid, volume, volume);
    const input = { file };
    const { code, stdout } = await runFixture('core/recovering-heph.mjs', { input, uid });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ streams: 1, faults: [], ignored: 0 });
    expect(eventsOf(file)).toBe(COUNT);
  });

  asRoot('works after it was opened to a group, trace and rings alike', async () => {
    const volume = folder(ALICE, 0o2770);
    const { file } = await killed(ALICE, volume, volume);
    const [ring] = ringsIn(volume);
    chmodSync(ring!, 0o660);
    expect(doubtAbout(ring!, statSync(ring!), { path: file, status: statSync(file) })).toMatch(
      /can be changed by others/,
    );
    chmodSync(file, 0o660);
    const input = { file };
    const { stdout } = await runFixture('core/recovering-heph.mjs', { input, uid: ALICE });
    expect(JSON.parse(stdout)).toMatchObject({ streams: 1, ignored: 0 });
  });
});

describe('a link in a directory for rings', () => {
  it('is reported once, whatever it points to', async () => {
    const place = mkdtempSync(join(root, 'link-'));
    const ringDir = mkdtempSync(join(root, 'link-rings-'));
    const file = join(place, 'trace.heph');
    await runFixture('core/killed-heph.mjs', { input: { file, ringDir, count: COUNT } });
    const [ring] = ringsIn(ringDir);
    const elsewhere = join(place, 'ring');
    renameSync(ring!, elsewhere);
    symlinkSync(elsewhere, ring!);
    copyFileSync(file, join(place, 'other.heph'));
    const ran = tracewright('recover', place, '--ring-dir', ringDir);
    expect(ran.stderr).toBe(
      `tracewright recover: ${ring!} is ignored as a ring: it is a symbolic link\n`,
    );
    const { code, stderr } = await runFixture('core/opening-heph.mjs', {
      input: { directory: place, ringDir, count: 3 },
    });
    expect(code).toBe(0);
    expect(stderr.split('is ignored as a ring: it is a symbolic link')).toHaveLength(2);
    rmSync(ring!);
    renameSync(elsewhere, ring!);
    expect(tracewright('recover', file, '--ring-dir', ringDir).stderr).toBe('');
    expect(eventsOf(file)).toBe(COUNT);
  });
});

describe('the command, over a trace whose ring is ignored', () => {
  const outcome = ({ status, stdout }: Run) => [status, stdout.trim()];

  asRoot.each(['next to it', 'elsewhere'])('%s, does not say that there is nothing', async (at) => {
    const place = folder(0, 0o755);
    const ringDir = at === 'elsewhere' ? folder(0, 0o1777) : place;
    const { file } = await killed(0, place, ringDir);
    const [ring] = ringsIn(ringDir);
    own(ring!, MALLORY);
    const args = ['recover', file, '--ring-dir', ringDir];
    const ran = tracewright(...args);
    const text = `${file}: not recovered, 1 ring of it ignored (Heph)`;
    expect(outcome(ran)).toEqual([1, text]);
    expect(ran.stderr).toMatch(/is ignored as a ring: it belongs to/);
    const report = JSON.parse(tracewright(...args, '--json').stdout) as {
      ignoredOfTrace: string[];
    };
    expect(report.ignoredOfTrace).toHaveLength(1);
    own(ring!, 0);
    expect(tracewright(...args).status).toBe(0);
    expect(eventsOf(file)).toBe(COUNT);
  });

  asRoot('of which no ring is known says nothing of those of others', async () => {
    const shared = folder(0, 0o1777);
    const { file } = await killed(0, folder(0, 0o755), shared);
    expect(tracewright('recover', file, '--ring-dir', shared).status).toBe(0);
    writeFileSync(join(shared, 'empty.ring'), '');
    own(join(shared, 'empty.ring'), MALLORY);
    expect(outcome(tracewright('recover', file, '--ring-dir', shared))).toEqual([
      0,
      `${file}: nothing to recover (Heph)`,
    ]);
  });
});

describe('a ring of ours', () => {
  asRoot('does not go into a file of another user that lies in its place', async () => {
    const place = folder(0, 0o777);
    const { file } = await killed(0, place, place);
    own(file, MALLORY, 0o644);
    const before = readFileSync(file);
    expect(recoverTrace(file)).toMatchObject({ streams: [], ignored: [{}] });
    expect(readFileSync(file)).toEqual(before);
  });

  it('that vanishes before it is opened is none', () => {
    expect(() => RingFile.open(join(root, 'gone.ring'))).toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ code: 'ENOENT' }) as Error }),
    );
  });
});
