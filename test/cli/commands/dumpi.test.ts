import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dumpi2ascii } from '../../../src/dumpi/read/dumpi2ascii.js';
import { rankFileName, writeMetafile } from '../../../src/dumpi/metafile.js';
import { openRank } from '../../../src/dumpi/write/rank.js';
import { readCalls } from '../../../src/dumpi/read/reader.js';
import { main, tracewright } from '../run-command.js';
import { convertToPicture } from '../../export/perfetto/drawn-events.js';
import { runFixture } from '../../fixtures/run-fixture.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { golden, goldenFiles, goldenTraces, sha256 } from '../../dumpi/golden-traces.js';
import { writeBuilt } from '../../dumpi/trace-building.js';
import type { BuiltCall } from '../../dumpi/trace-building.js';

process.env['TZ'] = 'UTC';

const directory = temporaryDirectory();

function call(name: BuiltCall['name'], at: number, fields: BuiltCall['fields'] = {}): BuiltCall {
  return {
    name,
    mask: 0x4b,
    wall: [
      [at, 0],
      [at, 5],
    ],
    fields,
  };
}

const message = { count: 4, datatype: 5, tag: 7, comm: 2 };
const begin = call('MPI_Init', 0, { argv: ['a b'] });
const end = call('MPI_Finalize', 9);

/** A run of two ranks in a directory of its own: its metafile and the ranks' files. */
function writeRun(): { run: string; meta: string; files: [string, string] } {
  const run = mkdtempSync(join(directory, 'run-'));
  const meta = join(run, 'run.meta');
  writeMetafile(meta, {
    hostname: 'host',
    numprocs: 2,
    username: '<none>',
    startTime: 1_795_220_230,
    fileprefix: 'run',
    version: [13, 0, 0],
  });
  const status = { bytes: 4, source: 0, tag: 7, cancelled: 0, error: 0 };
  const files: [string, string] = [
    writeBuilt(run, rankFileName('run', 0), {
      calls: [begin, call('MPI_Send', 1, { ...message, dest: 1 }), end],
      keyvals: [['key', 'value']],
    }),
    writeBuilt(run, rankFileName('run', 1), {
      calls: [begin, call('MPI_Recv', 2, { ...message, source: 0, status }), end],
    }),
  ];
  return { run, meta, files };
}

describe('the command on DUMPI', { timeout: 60_000 }, () => {
  it('dumps every call and section', () => {
    const { files } = writeRun();
    const { status, stdout, stderr } = tracewright('dump', files[0]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n')).toEqual([
      `# DUMPI trace ${files[0]}`,
      'header version="13.0.0" startTime=1795220230 hostname="host" username="<none>" meshCoordinates=[] meshSizes=[]',
      'MPI_Init(argv=["a b"]) thread 0 wall 0.000000000..0.000000005',
      'MPI_Send(count=4, datatype=BYTE, dest=1, tag=7, comm=COMM_WORLD) thread 0 wall 1.000000000..1.000000005',
      'MPI_Finalize() thread 0 wall 9.000000000..9.000000005',
      'keyval key="key" value="value"',
      'count name="MPI_Send" called=1 ignored=0',
      'count name="MPI_Init" called=1 ignored=0',
      'count name="MPI_Finalize" called=1 ignored=0',
      'count name="MPI_ALL_FUNCTIONS" called=3 ignored=0',
    ]);
  });

  it('dumps a run as JSON, one rank behind the other, once', () => {
    const { run, meta } = writeRun();
    const whole = tracewright('dump', '--json', meta);
    expect(whole.status).toBe(0);
    const records = whole.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; name?: string; fields?: unknown });
    expect(records[0]).toMatchObject({ kind: 'trace', format: 'DUMPI', path: meta });
    expect(records.filter(({ kind }) => kind === 'call').map(({ name }) => name)).toEqual([
      ...['MPI_Init', 'MPI_Send', 'MPI_Finalize'],
      ...['MPI_Init', 'MPI_Recv', 'MPI_Finalize'],
    ]);
    expect(records.find(({ name }) => name === 'MPI_Recv')).toMatchObject({
      wall: { start: 2_000_000_000, stop: 2_000_000_005 },
      fields: { ...message, source: 0, status: { bytes: 4, source: 0, tag: 7 } },
    });
    expect(tracewright('dump', '--json', run).stdout).toBe(whole.stdout);
  });

  it('says the rank in every line of a run', () => {
    const { meta, files } = writeRun();
    const linesOf = (path: string, ...options: string[]): string[] =>
      tracewright('dump', ...options, path)
        .stdout.trimEnd()
        .split('\n')
        .slice(1);
    expect(linesOf(meta)).toEqual(
      files.flatMap((file, rank) => linesOf(file).map((line) => `rank ${rank} ${line}`)),
    );
    const records = linesOf(meta, '--json').map((line) => JSON.parse(line) as { rank: number });
    const [first, second] = files.map((file) => linesOf(file, '--json').length);
    expect(records.map(({ rank }) => rank)).toEqual([
      ...new Array<number>(first!).fill(0),
      ...new Array<number>(second!).fill(1),
    ]);
  });

  it('prints what the format’s own reader prints', () => {
    const { files } = writeRun();
    const { status, stdout } = tracewright('dump', '--format', 'dumpi2ascii', files[1]);
    expect(status).toBe(0);
    expect(stdout).toBe(`${[...dumpi2ascii(files[1])].join('\n')}\n`);
    expect(stdout).toContain('MPI_Recv entering at walltime 2.0');
  });

  it('prints the bytes of text that is not UTF-8', () => {
    const path = writeBuilt(directory, 'latin.bin', {
      calls: [call('MPI_Init', 1, { argv: ['BYTE', 'größe'] })],
      header: { hostname: 'BYTE' },
      keyvals: [['BYTE', 'ß']],
    });
    const all = readFileSync(path).toString('latin1').replaceAll('BYTE', 'h\xe4\xfft');
    writeFileSync(path, all, 'latin1');
    const { stdout } = spawnSync(
      process.execPath,
      [main, 'dump', '--format', 'dumpi2ascii', path],
      { encoding: 'buffer' },
    );
    const text = stdout.toString('latin1');
    expect(text).toBe(`${[...dumpi2ascii(path, { encoding: 'latin1' })].join('\n')}\n`);
    expect(text).toContain('hostname=h\xe4\xfft\n');
    expect(text).toContain(`h\xe4\xfft=${Buffer.from('ß').toString('latin1')}\n`);
    expect(text).toContain(`"h\xe4\xfft", "${Buffer.from('größe').toString('latin1')}"`);
    expect([...dumpi2ascii(path)]).toContain('hostname=h\ufffd\ufffdt');
    expect(() => [...dumpi2ascii(path, { encoding: 'ascii' as never })]).toThrow(
      expect.objectContaining({ field: 'encoding' }),
    );
  });

  it('prints golden traces so', () => {
    for (const name of goldenFiles('printed')) {
      const { stdout } = tracewright('dump', '--format', 'dumpi2ascii', golden(name));
      expect(sha256(stdout)).toBe(goldenTraces[name]!.textSha256);
    }
  });

  it('checks ranks and runs', () => {
    const { run, meta, files } = writeRun();
    for (const path of [meta, files[0]]) {
      const { status, stdout, stderr } = tracewright('check', path);
      expect([status, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(
        /^warning reader-keyvals: .*keyvals: 1; dumpi2dumpi writes without end/,
      );
      expect(stdout).toContain(`\n${path}: acceptable (DUMPI)\n0 errors, 1 warning\n`);
    }
    rmSync(files[1]);
    const { status, stdout } = tracewright('check', run);
    expect(status).toBe(1);
    expect(stdout).toContain(`error missing-rank: ${meta}: ${files[1]} is missing`);
    writeFileSync(files[1], readFileSync(files[0]).subarray(0, -20));
    const cut = tracewright('check', '--json', files[1]);
    expect(cut.status).toBe(1);
    expect(JSON.parse(cut.stdout)).toMatchObject({
      severity: 'error',
      rule: 'bad-file',
      path: files[1],
    });
  });

  it('says which rank of a run has no file', () => {
    const run = mkdtempSync(join(directory, 'run-'));
    const startTime = new Date(2026, 0, 1);
    const rank = openRank({ directory: run, rank: 0, size: 3, startTime, config: {} });
    rank.log('MPI_Init', { argv: [] });
    rank.close();
    const meta = rank.path.replace('-0000.bin', '.meta');
    const missing = rank.path.replace('-0000.bin', '-0001.bin');
    const { status, stderr } = tracewright(
      'convert',
      '--to',
      'perfetto',
      meta,
      join(run, 'out.json'),
    );
    expect(status).toBe(1);
    expect(stderr).toContain(`the file of rank 1 is missing, ${missing}: the run has 3 ranks`);
    expect(stderr).not.toContain('ENOENT');
  });

  it('converts a run to Perfetto, a process a rank', () => {
    const { status, events } = convertToPicture(writeRun().meta);
    expect(status).toBe(0);
    const calls = events.filter(({ ph }) => ph === 'X');
    expect(calls.map(({ name, pid }) => `${pid} ${name}`)).toEqual([
      ...['1 MPI_Init', '1 MPI_Send', '1 MPI_Finalize'],
      ...['2 MPI_Init', '2 MPI_Recv', '2 MPI_Finalize'],
    ]);
    expect(calls[4]).toMatchObject({ ts: 2_000_000, dur: 0.005 });
  });

  it.each(['file', 'directory'])('recovers a rank that was killed, by its %s', async (what) => {
    const run = mkdtempSync(join(directory, 'killed-'));
    const input = { directory: run, count: 1000, end: 'kill' };
    const { signal, stdout } = await runFixture('dumpi-killed.mjs', { input });
    expect(signal).toBe('SIGKILL');
    const { path } = JSON.parse(stdout) as { path: string };
    const killed = tracewright('dump', path);
    expect(killed).toMatchObject({ status: 0, stderr: expect.stringContaining(path) as string });
    const inFile = tracewright('dump', '--no-rings', path);
    expect(inFile).toMatchObject({ status: 1, stderr: expect.stringContaining(path) as string });
    const done = tracewright('recover', '--json', what === 'file' ? path : run);
    expect(done.status).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ faults: [], streams: [{}] });
    expect(tracewright('dump', path).stdout).toBe(killed.stdout);
    const sends = [...readCalls(path)].filter(({ name }) => name === 'MPI_Send');
    expect(sends).toHaveLength(1000);
    // The process was killed before MPI_Finalize; nothing else is amiss.
    const checked = tracewright('check', path);
    expect(checked.status).toBe(0);
    expect(checked.stdout).toMatch(/no-finalize/);
    expect(tracewright('recover', run).stdout).toContain('nothing to recover (DUMPI)');
  });

  it("recovers a run's killed ranks by its metafile, and leaves one alone that lives", async () => {
    const run = mkdtempSync(join(directory, 'partly-'));
    const startTime = new Date(2026, 0, 1);
    const living = openRank({ directory: run, rank: 0, size: 2, startTime, config: {} });
    const input = { directory: run, rank: 1, size: 2, count: 100, end: 'kill' };
    const { signal, stdout } = await runFixture('dumpi-killed.mjs', { input });
    expect(signal).toBe('SIGKILL');
    const { path } = JSON.parse(stdout) as { path: string };
    const meta = path.replace('-0001.bin', '.meta');
    const first = tracewright('recover', '--json', meta);
    expect(first.status).toBe(2);
    const { streams, faults } = JSON.parse(first.stdout) as Record<string, unknown[]>;
    expect(streams).toMatchObject([{ path }]);
    expect(faults).toEqual([expect.stringContaining(`process ${process.pid} is alive`)]);
    const sends = [...readCalls(path)].filter(({ name }) => name === 'MPI_Send');
    expect(sends).toHaveLength(100);
    // Nothing is left to do but for the one that lives.
    expect(tracewright('recover', meta)).toMatchObject({ status: 2, stdout: '' });
    living.log('MPI_Barrier', { comm: 2 });
    living.close();
    expect([...readCalls(living.path)]).toHaveLength(1);
    expect(tracewright('recover', meta).status).toBe(0);
  });
});
