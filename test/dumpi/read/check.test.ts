import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkRun, checkTrace } from '../../../src/dumpi/read/check.js';
import {
  metafileText,
  rankFiles,
  readMetafile,
  writeMetafile,
} from '../../../src/dumpi/metafile.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { golden, goldenFiles, goldenRuns } from '../golden-traces.js';
import { writeBuilt } from '../trace-building.js';
import type { BuiltCall, BuiltTrace } from '../trace-building.js';

const directory = temporaryDirectory();

function call(name: BuiltCall['name'], fields: BuiltCall['fields'] = {}, at = 0): BuiltCall {
  return {
    name,
    mask: 0x4b,
    wall: [
      [at, 0],
      [at, 1],
    ],
    fields,
  };
}

const init = call('MPI_Init', { argv: [] });
const finalize = call('MPI_Finalize', {}, 9);
const send = { count: 1, datatype: 9, dest: 0, tag: 0, comm: 2 };

/** Rules of what is found in a trace, each with its severity. */
function rules(trace: BuiltTrace): string[] {
  const path = writeBuilt(directory, 'checked.bin', trace);
  return [...checkTrace(path)].map(({ severity, rule }) => `${severity} ${rule}`);
}

function rulesOf(...calls: BuiltCall[]): string[] {
  return rules({ calls: [init, ...calls, finalize] });
}

describe('checkTrace', () => {
  it('finds nothing in a sound trace', () => {
    expect(rulesOf(call('MPI_Send', send))).toEqual([]);
  });

  it('tells calls that no library writes', () => {
    expect(rules({ calls: [call('MPI_Send', send)] })).toEqual([
      'warning no-init',
      'warning no-finalize',
    ]);
    expect(rules({ calls: [init, finalize, call('MPI_Send', send, 10)] })).toEqual([
      'warning reader-finalize',
    ]);
  });

  it('tells arrays beyond which the reader reads', () => {
    const types = { numintegers: 0, numaddresses: 0, numdatatypes: 2, datatype: 28 };
    const contents = { ...types, arrintegers: null, arraddresses: null, arrdatatypes: [1, 2] };
    expect(rulesOf(call('MPI_Type_get_contents', contents))).toEqual([]);
    const struct = { count: 2, indices: [1, 2], newtype: 28 };
    // The last array of the count says how many of each are printed.
    const short = { ...struct, lengths: [1], oldtypes: [9, 9] };
    expect(rulesOf(call('MPI_Type_struct', short))).toEqual(['error array-length']);
    const cut = { ...struct, lengths: [1, 2], oldtypes: [9] };
    expect(rulesOf(call('MPI_Type_struct', cut))).toContain('warning array-cut');
    const statuses = [{ bytes: 0, source: 0, tag: 0, cancelled: 0, error: 0 }];
    const waited = { count: 2, requests: [2, 3], statuses };
    expect(rulesOf(call('MPI_Waitall', waited))).toEqual(['error array-length']);
    expect(rulesOf(call('MPI_Startall', { count: 3, requests: [2] }))).toEqual(['warning count']);
  });

  it('reports indices of requests that the call does not have', () => {
    const requests = { count: 2, requests: [5, 6] };
    for (const [name, fields] of [
      ['MPI_Testsome', { outcount: 2, indices: [-1, 5], statuses: null }],
      ['MPI_Waitsome', { outcount: 2, indices: [1, 2], statuses: null }],
      ['MPI_Waitsome', { outcount: 2, indices: [1, 1], statuses: null }],
      ['MPI_Waitany', { index: 7, status: null }],
      ['MPI_Testany', { index: 2, flag: 1, status: null }],
    ] as const) {
      const waits = [call(name, { ...requests, ...fields })];
      expect(rulesOf(...waits)).toEqual(['warning request-index']);
    }
    for (const [name, fields] of [
      ['MPI_Testsome', { outcount: 2, indices: [1, 0], statuses: null }],
      ['MPI_Testsome', { outcount: -32_766, indices: null, statuses: null }],
      ['MPI_Waitany', { index: -32_766, status: null }],
      ['MPI_Testany', { index: 9, flag: 0, status: null }],
    ] as const) {
      expect(rulesOf(call(name, { ...requests, ...fields }))).toEqual([]);
    }
  });

  it('tells times that cannot be', () => {
    const times = (start: [number, number], stop: [number, number]): BuiltCall => ({
      name: 'MPI_Wtime',
      mask: 0x48,
      wall: [start, stop],
      fields: {},
    });
    expect(rulesOf(times([5, 0], [5, 1_000_000_000]))).toEqual(['warning nanoseconds']);
    expect(rulesOf(times([5, 7], [5, 6]))).toEqual(['warning stop-before-start']);
    expect(rulesOf(times([5, 7], [5, 8]), times([4, 7], [4, 8]))).toEqual([
      'warning clock-backwards',
    ]);
  });

  it('tells functions that are left without being entered, and those without a name', () => {
    const enter = (fn: bigint): BuiltCall => call('Function_enter', { fn });
    const exit = (fn: bigint): BuiltCall => call('Function_exit', { fn });
    const functionNames = [{ address: 1n, name: 'main' }];
    const found = (...calls: BuiltCall[]): string[] =>
      rules({ calls: [init, ...calls, finalize], functionNames }).filter(
        (rule) => rule !== 'warning reader-copy',
      );
    expect(found(enter(1n), exit(1n))).toEqual([]);
    expect(found(enter(1n), exit(2n))).toEqual([
      'warning function-nesting',
      'warning function-nesting',
    ]);
    expect(found(enter(5n), enter(5n), exit(5n), exit(5n))).toEqual(['warning function-name']);
  });

  it('warns once of calls that dumpi2dumpi does not copy', () => {
    const names = ['Function_enter', 'Function_exit'] as const;
    const calls = names.map((name) => call(name, { fn: 1n }));
    const functionNames = [{ address: 1n, name: 'main' }];
    expect(rules({ calls: [init, ...calls, finalize], functionNames })).toEqual([
      'warning reader-copy',
    ]);
    const wait = call('MPIO_Wait', { request: 1, status: null });
    expect(rules({ calls: [init, wait, wait, finalize] })).toEqual(['warning reader-copy']);
  });

  it('tells counts of the footer that are not those of the calls', () => {
    const called = new Array<number>(291).fill(0);
    expect(rules({ calls: [init, finalize], called })).toEqual([
      'warning footer-count',
      'warning footer-count',
    ]);
    called[290] = 7;
    expect(rules({ calls: [init, finalize], called })).toContain('warning footer-total');
  });

  it('tells what the reader dies of or does not know', () => {
    const calls = [init, finalize];
    expect(rules({ calls, counterLabels: ['x'.repeat(80)] })).toEqual(['error counter-label']);
    expect(rules({ calls, counterLabels: ['x'.repeat(79)] })).toEqual([]);
    const pair = ['a', 'b'] as const;
    for (const keyvals of [[pair], [pair, pair]]) {
      expect(rules({ calls, keyvals })).toEqual(['warning reader-keyvals']);
    }
    expect(rules({ calls, header: { version: [13, 0, 1] } })).toEqual(['warning newer-version']);
    const counted = { name: 'MPI_Wtime', mask: 0x80, counters: [[1n, 2n]], fields: {} } as const;
    expect(rules({ calls: [init, counted, finalize] })).toEqual(['error bad-call']);
    const lacking = rules({ calls: [init, counted, finalize], lacking: 3 });
    expect(lacking).toEqual(['error counter-label']);
  });

  it('counts what it finds too often', () => {
    const path = writeBuilt(directory, 'often.bin', {
      calls: [init, ...new Array<BuiltCall>(30).fill(call('Function_exit', { fn: 1n })), finalize],
    });
    const found = [...checkTrace(path, { repeats: 3 })];
    expect(found.map(({ message }) => message).at(-1)).toBe('27 more findings of this rule');
    expect(found.filter(({ rule }) => rule !== 'reader-copy')).toHaveLength(4);
  });

  it('finds nothing in golden traces and runs', () => {
    for (const name of goldenFiles()) expect([...checkTrace(golden(name))]).toEqual([]);
    for (const run of Object.keys(goldenRuns)) {
      expect([...checkRun(golden(`${run}.meta`))]).toEqual([]);
    }
  });
});

describe('checkRun', () => {
  const meta = join(directory, 'run.meta');
  const metafile = {
    hostname: 'host',
    numprocs: 3,
    username: '<none>',
    startTime: 1_795_220_230,
    fileprefix: 'run',
    version: [13, 0, 0],
  } as const;

  it('tells a rank that is missing and a metafile that says otherwise than the ranks', () => {
    writeMetafile(meta, metafile);
    const files = [...rankFiles(meta, readMetafile(meta))];
    for (const file of files) writeBuilt('', file, { calls: [init, finalize] });
    expect([...checkRun(meta)]).toEqual([]);
    writeMetafile(meta, { ...metafile, startTime: 1, version: [1, 0, 0] });
    expect([...checkRun(meta)].map(({ rule }) => rule)).toEqual(['metafile', 'metafile']);
    writeMetafile(meta, metafile);
    rmSync(files[1]!);
    const found = [...checkRun(meta)];
    expect(found.map(({ rule }) => rule)).toEqual(['missing-rank']);
    expect(found[0]!.message).toContain('run-0001.bin');
    writeFileSync(meta, 'no metafile\n');
    expect([...checkRun(meta)].map(({ rule }) => rule)).toEqual(['bad-metafile']);
  });

  it('reads what it has written', () => {
    writeMetafile(meta, metafile);
    expect(readMetafile(meta)).toEqual(metafile);
    expect(metafileText(metafile)).toContain('\nstartime=1795220230\n');
  });

  it('is found in a directory and below, with ranks of no run', () => {
    const whole = temporaryDirectory();
    const below = join(whole, 'below');
    mkdirSync(below);
    writeMetafile(join(below, 'run.meta'), { ...metafile, numprocs: 2 });
    for (const name of ['run-0000.bin', 'run-0001.bin']) {
      writeBuilt(below, name, { calls: [init, finalize] });
    }
    const alone = writeBuilt(whole, 'alone-0000.bin', { calls: [init] });
    expect([...checkTrace(whole)].map(({ rule, path }) => [rule, path])).toEqual([
      ['no-finalize', alone],
    ]);
    rmSync(join(below, 'run-0001.bin'));
    expect([...checkTrace(whole)].map(({ rule }) => rule)).toEqual(['missing-rank', 'no-finalize']);
  });
});
