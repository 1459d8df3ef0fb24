import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTrace, piecesOf } from '../../src/heph/index.js';
import { temporaryDirectory, writeTrace } from '../heph/temporary-file.js';
import { tracewright } from './run-command.js';

const directory = temporaryDirectory();

describe('the command line', { timeout: 60_000 }, () => {
  it('prints help on all and on each, asked in any way', () => {
    for (const args of [['--help'], ['-h'], ['help']]) {
      const { status, stdout, stderr } = tracewright(...args);
      expect([status, stderr]).toEqual([0, '']);
      for (const name of ['dump', 'check', 'convert']) expect(stdout).toContain(`  ${name} `);
    }
    for (const name of ['dump', 'check', 'convert']) {
      const { status, stdout } = tracewright(name, '--help');
      expect([status, stdout]).toEqual([0, expect.stringContaining(`Usage: tracewright ${name}`)]);
      expect(stdout.split('\n').every((line) => line.length <= 80)).toBe(true);
      expect(tracewright('help', name).stdout).toBe(stdout);
      expect(tracewright(name, 'anything', '--help').stdout).toBe(stdout);
    }
  });

  it('prints its version', () => {
    const packageJson = new URL('../../package.json', import.meta.url);
    const { version } = JSON.parse(readFileSync(packageJson, 'utf8')) as { version: string };
    expect(tracewright('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each([
    [[], 'a command is missing; use one of dump, check, convert'],
    [['reprot'], 'unknown command "reprot"; did you mean "report"?'],
    [['report', 'x', '--slowset', '3'], '; did you mean "--slowest"?'],
    [['convert', 'x', '--to', 'perfeto'], '; did you mean "perfetto"?'],
    [['frobnicate'], 'unknown command "frobnicate"; use one of dump, check, convert'],
    [['--frobnicate'], 'unknown option "--frobnicate"'],
    [['constructor'], 'unknown command "constructor"'],
    [['dump'], 'PATH is missing'],
    [['check', '--json'], 'PATH is missing'],
    [['dump', '--jsn', 'x'], "unknown option '--jsn'"],
    [['convert', '--to', 'perfetto', 'x', 'y', 'z'], 'unexpected argument "z"'],
    [['dump', '/nowhere/at/all'], 'cannot read /nowhere/at/all: no such file'],
    [['check', '/nowhere/at/all'], 'cannot read /nowhere/at/all: no such file'],
    [['check', '/dev/null'], '/dev/null is neither a file nor a directory'],
    [
      ['convert', 'x'],
      '--to is missing; use one of laplace-binary, laplace-text, otlp, ovni3, parquet, perfetto',
    ],
    [['convert', '--to'], "option '--to <value>' argument missing"],
    [
      ['convert', '--to', 'pdf', 'x'],
      'cannot convert to "pdf"; use one of laplace-binary, laplace-text, otlp, ovni3, parquet, perfetto',
    ],
    [['convert', '--to', 'constructor', 'x'], 'cannot convert to "constructor"'],
    [['convert', '--to', 'ovni3', 'x'], 'OUT is missing'],
  ])('%j is refused with what is wrong', (args, message) => {
    const { status, stdout, stderr } = tracewright(...args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^tracewright( \w+)?: .*\nSee `tracewright( \w+)? --help`\.\n$/);
  });

  it('takes several paths, and treats each trace once', async () => {
    const place = join(directory, 'several');
    mkdirSync(place);
    const paths = ['a', 'b'].map((name) => join(place, `${name}.heph`));
    for (const path of paths) {
      const trace = openTrace(path);
      const stream = trace.stream();
      stream.finishTrace(stream.startTrace(), 'span');
      await trace.close();
    }
    const { status, stdout } = tracewright('check', ...paths, place, paths[0]!);
    expect([status, stdout]).toEqual([
      0,
      [...paths.map((path) => `${path}: acceptable (Heph)\n`), '0 errors, 0 warnings\n'].join(''),
    ]);
    const titles = tracewright('dump', ...paths).stdout.match(/^# .*$/gm);
    expect(titles).toEqual(paths.map((path) => `# Heph trace ${path}`));
    expect(tracewright('recover', ...paths).stdout).toBe(
      paths.map((path) => `${path}: nothing to recover (Heph)\n`).join(''),
    );
    expect(tracewright('check', paths[0]!, '/nowhere/at/all')).toMatchObject({
      status: 2,
      stdout: '',
    });
    rmSync(place, { recursive: true });
  });

  it('finds the pieces of a Heph trace that rotated', async () => {
    const path = join(directory, 'rotated.heph');
    const sizes = { ringBytes: 65_536, rotateBytes: 131_072 };
    const trace = openTrace(path, sizes);
    const stream = trace.stream();
    const attributes = { text: 'x'.repeat(1000) };
    for (let span = 0; span < 400; span++) {
      stream.finishTrace(stream.startTrace(), 'span', attributes);
    }
    await trace.close();
    const pieces = piecesOf(path);
    expect(pieces.length).toBeGreaterThan(1);
    const { status, stdout } = tracewright('dump', path);
    expect([status, stdout.match(/^# .*$/gm)]).toEqual([
      0,
      pieces.map((piece) => `# Heph trace ${piece}`),
    ]);
    expect(stdout.match(/"span"/g)).toHaveLength(400);
    expect(tracewright('check', path).status).toBe(0);
    for (const piece of pieces) rmSync(piece);
  });

  it('says what a trace looks like when there is none', () => {
    const path = writeTrace(directory, 'notes.txt', Buffer.from('no trace'));
    for (const nothing of [path, directory]) {
      const { status, stderr } = tracewright('dump', nothing);
      expect([status, stderr]).toEqual([2, expect.stringContaining('contains no trace')]);
      expect(stderr).toContain('.heph');
      expect(stderr).toContain('loom.<name>');
    }
  });
});
