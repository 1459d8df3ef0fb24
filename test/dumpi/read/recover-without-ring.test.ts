import { spawnSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkTrace } from '../../../src/dumpi/read/check.js';
import { readCalls } from '../../../src/dumpi/read/reader.js';
import { recoverTrace } from '../../../src/dumpi/read/recover.js';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { openRank } from '../../../src/dumpi/write/rank.js';
import { main, tracewright } from '../../cli/run-command.js';
import { runFixture } from '../../fixtures/run-fixture.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const folder = temporaryDirectory();
/** Calls of a killed rank: more than its ring holds, so that most are in its file. */
const COUNT = 50_000;
let killed: string;

beforeAll(async () => {
  killed = mkdtempSync(join(folder, 'killed-'));
  // What only a lost ring held is lost: the first names have to be in their file.
  const input = { directory: killed, count: COUNT, end: 'kill', namesWritten: true };
  await runFixture('dumpi-killed.mjs', { input });
});

/** A copy of the killed rank without some of what lies next to it. */
function copyWithout(...ends: string[]): { directory: string; path: string } {
  const directory = mkdtempSync(join(folder, 'copy-'));
  cpSync(killed, directory, { recursive: true });
  const names = readdirSync(directory);
  for (const name of names) {
    if (ends.some((end) => name.endsWith(`.bin${end}`))) rmSync(join(directory, name));
  }
  return {
    directory,
    path: join(
      directory,
      names.find((name) => name.endsWith('.bin'))!,
    ),
  };
}

const RINGS = ['.ring', '.names.ring'];

function sendsIn(path: string): number[] {
  const sends: number[] = [];
  for (const { name, fields } of readCalls(path)) {
    if (name === 'MPI_Send') sends.push((fields as { count: number }).count);
  }
  return sends;
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

describe('a rank whose ring is lost', () => {
  it.each(['the file', 'the directory'])('is complete, by %s', (which) => {
    const { directory, path } = copyWithout(...RINGS);
    const size = statSync(path).size;
    const { streams, faults, emptied } = recoverTrace(which === 'the file' ? path : directory);
    expect([faults, emptied]).toEqual([[], []]);
    const sends = sendsIn(path);
    expect(sends.length).toBeGreaterThan(1000);
    expect(sends).toEqual(upTo(sends.length));
    expect(streams).toEqual([expect.objectContaining({ path, bytes: 0 })]);
    const { header, footer, keyvals, functionNames, datatypeSizes } = readSections(path);
    expect(header!.version).toEqual([13, 0, 0]);
    expect([footer!.calls[0], footer!.ignored[290]]).toEqual([sends.length, 0]);
    expect(keyvals).toEqual([['seed', '42']]);
    expect(functionNames[0]!.name).toBe('ANNOTATION: begin');
    expect(datatypeSizes).toHaveLength(28);
    const rules = new Set([...checkTrace(path)].map(({ rule }) => rule));
    expect([...rules].filter((rule) => !/^(no-|reader-|function-)/.test(rule))).toEqual([]);
    expect(readdirSync(directory).filter((name) => name.startsWith('.'))).toEqual([]);
    const whole = readFileSync(path);
    expect(recoverTrace(directory)).toEqual({ streams: [], emptied: [], faults: [] });
    expect(readFileSync(path).equals(whole)).toBe(true);
    expect(size).toBeLessThan(whole.length);
  });

  it('loses half a call at its end, and half a name', () => {
    const { path } = copyWithout(...RINGS);
    const side = (end: string) => join(dirname(path), `.${basename(path)}${end}`);
    const plain = copyWithout(...RINGS);
    recoverTrace(plain.path);
    const sends = sendsIn(plain.path);
    writeFileSync(side('.names'), Buffer.alloc(9), { flag: 'a' });
    truncateSync(path, statSync(path).size - 5);
    const [stream] = recoverTrace(path).streams;
    expect(stream!.cutBytes).toBeGreaterThan(0);
    expect(sends.length - sendsIn(path).length).toBeLessThanOrEqual(1);
    expect(readSections(path).functionNames).toEqual(readSections(plain.path).functionNames);
  });

  it('can be recovered again after any interruption', () => {
    const { path } = copyWithout(...RINGS);
    const before = new Map(
      readdirSync(dirname(path)).map((name) => [name, readFileSync(join(dirname(path), name))]),
    );
    recoverTrace(path);
    const whole = readFileSync(path);
    for (const bytes of [whole.length, whole.length - 70, whole.length - 1500]) {
      for (const [name, content] of before) {
        if (name.startsWith('.')) writeFileSync(join(dirname(path), name), content);
      }
      writeFileSync(path, whole.subarray(0, bytes));
      expect(recoverTrace(path).faults).toEqual([]);
      expect(readFileSync(path).equals(whole)).toBe(true);
    }
  });

  it('is left as it is if it holds something else than calls', () => {
    const { path } = copyWithout(...RINGS);
    const bytes = readFileSync(path);
    bytes.fill(0xee, 5000, 5100);
    writeFileSync(path, bytes);
    const { streams, faults } = recoverTrace(path);
    expect([streams, faults.length]).toEqual([[], 1]);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it.skipIf(process.getuid!() !== 0)('is left as it is by the files of another user', () => {
    const { path } = copyWithout(...RINGS);
    const bytes = readFileSync(path);
    chownSync(join(dirname(path), `.${basename(path)}.json`), 65_534, 65_534);
    const { streams, faults } = recoverTrace(path);
    expect([streams, faults]).toEqual([[], [expect.objectContaining({ field: 'owner' })]]);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it('is a fault of the command if nothing next to it is left', () => {
    const { path } = copyWithout(...RINGS, '.json', '.names');
    const { status, stdout } = tracewright('recover', path);
    expect([status, stdout]).toEqual([1, expect.stringContaining('not recovered')]);
  });

  it('is recovered only with its ring as long as that exists elsewhere', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const ringDir = mkdtempSync(join(folder, 'rings-'));
    const input = { directory, ringDir, count: 100, end: 'kill' };
    const { stdout } = await runFixture('dumpi-killed.mjs', { input });
    const { path } = JSON.parse(stdout) as { path: string };
    const copy = mkdtempSync(join(folder, 'copy-'));
    cpSync(directory, copy, { recursive: true });
    expect(() => recoverTrace(path)).toThrow(/was not recovered; pass its directory as ringDir/);
    // Of a copy nobody asks for the ring.
    expect(recoverTrace(copy)).toMatchObject({ streams: [{ bytes: 0 }], faults: [] });
    const moved = mkdtempSync(join(folder, 'moved-'));
    renameSync(directory, join(moved, 'run'));
    renameSync(ringDir, join(moved, 'rings'));
    const rank = join(moved, 'run', basename(path));
    expect(() => recoverTrace(rank)).toThrow(/was moved as ringDir/);
    expect(tracewright('recover', rank).status).toBe(2);
    recoverTrace(rank, { ringDir: join(moved, 'rings') });
    expect(sendsIn(rank)).toEqual(upTo(100));
    expect(readdirSync(join(moved, 'rings'))).toEqual([]);
  });

  it('is complete without the directory in which its ring was', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const ringDir = mkdtempSync(join(folder, 'rings-'));
    const input = { directory, ringDir, count: COUNT, end: 'kill' };
    const { stdout } = await runFixture('dumpi-killed.mjs', { input });
    const { path } = JSON.parse(stdout) as { path: string };
    rmSync(ringDir, { recursive: true });
    const ran = tracewright('recover', directory);
    // What the ring held is not known.
    expect(ran).toMatchObject({ status: 1, stderr: '' });
    expect(ran.stdout).toMatch(/1 stream completed: .*1 ring missing, what it held is lost/);
    const sends = sendsIn(path);
    expect(sends.length).toBeGreaterThan(1000);
    expect(sends).toEqual(upTo(sends.length));
    expect(existsSync(ringDir)).toBe(false);
    expect(recoverTrace(directory)).toEqual({ streams: [], emptied: [], faults: [] });
  });

  it('is left alone in a container that does not see the directory of its ring', async ({
    skip,
  }) => {
    const unshare = ['--fork', '--pid', '--mount-proc', '--kill-child'];
    const mayUnshare = spawnSync('unshare', [...unshare, 'true']).status === 0;
    skip(!mayUnshare, 'this machine lets nobody make a pid namespace here');
    const directory = mkdtempSync(join(folder, 'run-'));
    const ringDir = mkdtempSync(join(folder, 'rings-'));
    const input = { directory, ringDir, count: 100, end: 'kill' };
    await runFixture('dumpi-killed.mjs', { input });
    rmSync(ringDir, { recursive: true });
    const command = [...unshare, process.execPath, main, 'recover', directory];
    const { status, stderr } = spawnSync('unshare', command, { encoding: 'utf8' });
    expect(stderr).toMatch(/does not exist here; .* if the process has ended/);
    expect(status).toBe(2);
    expect(recoverTrace(directory).streams).toHaveLength(1);
  });

  it('is not completed in the place of a file that its ring feeds', async () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const ringDir = mkdtempSync(join(folder, 'rings-'));
    const input = { directory, ringDir, count: 100, end: 'kill' };
    const { stdout } = await runFixture('dumpi-killed.mjs', { input });
    const { path } = JSON.parse(stdout) as { path: string };
    // As a backup restores it: the same path, another file.
    const bytes = readFileSync(path);
    renameSync(path, `${path}.old`);
    writeFileSync(path, bytes);
    expect(() => recoverTrace(path)).toThrow(/pass its directory as ringDir/);
    const { streams, faults } = recoverTrace(path, { ringDir });
    expect([streams, faults]).toEqual([
      [],
      [expect.objectContaining({ code: 'ERR_TRACE_EXISTS' })],
    ]);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it('is left alone while its process is alive', () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const ringDir = mkdtempSync(join(folder, 'rings-'));
    const rank = openRank({ directory, ringDir, rank: 0, size: 1, config: {} });
    expect(() => recoverTrace(directory)).toThrow(expect.objectContaining({ code: 'ERR_ORDER' }));
    for (const name of readdirSync(ringDir)) rmSync(join(ringDir, name));
    expect(() => recoverTrace(directory)).toThrow(expect.objectContaining({ field: 'pid' }));
    rank.log('MPI_Barrier', { comm: 2 });
    rank.close();
    expect([...readCalls(rank.path)]).toHaveLength(1);
    expect(existsSync(rank.path)).toBe(true);
  });
});
