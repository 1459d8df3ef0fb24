import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixturePath } from '../fixtures/run-fixture.js';
import { encodeEpoch } from '../heph/byte-by-byte-encoder.js';
import {
  encodeResource,
  encodeSpan,
  MANY_ATTRIBUTES,
  manyAttributes,
  withAttributes,
} from '../export/span-file.js';
import { installCopy, newProject } from './installed-copy.js';

// What reads traces where there is no binary, no right to write to them, and another user than theirs.

/** What a terminal acts on. */
// eslint-disable-next-line no-control-regex -- these are what must not be there
const ACTED_ON = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2066]/;
const NAMES = [
  '<script>alert(1)</script>',
  '\u001b]0;title\u0007',
  '\u202egnp.exe',
  'a\0b\r\nc',
  '',
];
const SERVER = 1n | (1n << 8n) | (1n << 16n);
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

const place = mkdtempSync(join(tmpdir(), 'tracewright-look-'));
const traces = join(place, 'traces');
const output = join(place, 'output');
let main = '';

afterAll(() => {
  modeOfAll(0o755, 0o644);
  rmSync(place, { recursive: true, force: true });
});

/** Circles, two spans of one id, times that go back, 290 years, and names of every kind. */
function hostileFile(): Buffer {
  const spans = NAMES.map((name, i) =>
    encodeSpan({ id: BigInt(i + 1), name, start: 1000n, end: 5000n, flags: SERVER }),
  );
  const many = encodeSpan({ id: 50n, start: 0n, end: 9n, flags: SERVER });
  return Buffer.concat([
    encodeEpoch(1_700_000_000_000_000_000n),
    encodeResource({ 'service.name': NAMES[0]!, 'process.pid': 7n }),
    ...spans,
    encodeSpan({ id: 10n, parent: 11n, start: 0n, end: 100n }),
    encodeSpan({ id: 11n, parent: 10n, start: 0n, end: 100n }),
    encodeSpan({ id: 12n, parent: 12n, start: 0n, end: 100n }),
    encodeSpan({ id: 13n, start: 0n, end: 10n }),
    encodeSpan({ id: 13n, parent: 1n, start: 5n, end: 10n }),
    encodeSpan({ id: 14n, start: 5000n, end: 10n }),
    encodeSpan({ id: 15n, start: 0n, end: 290n * 365n * 86_400n * 1_000_000_000n }),
    withAttributes(many, manyAttributes(MANY_ATTRIBUTES)),
  ]);
}

function modeOfAll(directory: number, file: number): void {
  for (const name of readdirSync(traces, { recursive: true, encoding: 'utf8' })) {
    const path = join(traces, name);
    chmodSync(path, statSync(path).isDirectory() ? directory : file);
  }
  chmodSync(traces, directory);
}

function stateOf(): string[] {
  return readdirSync(traces, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => `${name} ${statSync(join(traces, name)).mtimeMs}`);
}

beforeAll(async () => {
  for (const path of [join(traces, 'killed', 'dumpi'), output])
    mkdirSync(path, { recursive: true });
  const script = fixturePath('traces/live.mjs');
  const input = JSON.stringify({ directory: join(traces, 'killed') });
  const service = spawn(process.execPath, [script, input], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(service.stdout, 'data');
  service.kill('SIGKILL');
  await once(service, 'close');
  for (const name of readdirSync(join(traces, 'killed', 'dumpi'))) {
    if (name.endsWith('.meta')) rmSync(join(traces, 'killed', 'dumpi', name));
  }
  writeFileSync(join(traces, 'hostile.heph'), hostileFile());
  const project = newProject({});
  installCopy(project, { withoutBinary: true });
  main = join(project, 'node_modules', 'tracewright', 'dist', 'cli', 'main.js');
  for (const path of [project, place]) chmodSync(path, 0o755);
  chmodSync(output, 0o777);
  modeOfAll(0o555, 0o444);
}, 60_000);

interface Ended {
  status: number | null;
  stdout: Buffer;
  stderr: string;
}

function run(...args: string[]): Ended {
  return runNode(main, ...args);
}

function runNode(...args: string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    env: { PATH: process.env['PATH'], HOME: '/', TMPDIR: output },
    cwd: dirname(main),
    maxBuffer: 1 << 28,
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  });
  return { status, stdout, stderr: stderr.toString() };
}

describe('without a binary, on a directory of another user that is read-only', () => {
  it('traces are reported, with what is only in the rings', () => {
    const before = stateOf();
    const { status, stdout, stderr } = run('report', '--json', traces);
    expect([status, stderr]).toEqual([0, '']);
    const report = JSON.parse(stdout.toString()) as {
      sources: { format: string; state: string; rows: number }[];
      groups: { name: string; count: number }[];
      mpi: { calls: { name: string; count: number }[] }[];
    };
    const ofKilled = report.sources.filter(({ state }) => state === 'died');
    expect(ofKilled.map(({ format }) => format).sort()).toEqual([
      'DUMPI',
      'Heph',
      'laplace-binary',
      'laplace-kernel',
      'ovni',
    ]);
    const barriers = report.mpi[0]!.calls.find(({ name }) => name === 'MPI_Barrier');
    expect(barriers!.count).toBeGreaterThan(499);
    expect(report.groups.reduce((sum, { count }) => sum + count, 0)).toBe(NAMES.length + 1);
    const text = run('report', traces);
    expect([text.status, ACTED_ON.test(text.stdout.toString())]).toEqual([0, false]);
    const page = join(output, 'report.html');
    expect(run('report', traces, '--html', page).status).toBe(0);
    const html = readFileSync(page, 'utf8');
    expect(html.length).toBeLessThan(2 << 20);
    // Its own program, and data.
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(stateOf()).toEqual(before);
  }, 60_000);

  it.each(['perfetto', 'otlp', 'parquet'])(
    'traces are converted to %s',
    (target) => {
      const before = stateOf();
      const { status, stdout, stderr } = run('convert', '--to', target, traces, '-');
      expect([status, stderr.split('\n').filter((line) => line.includes('fault'))]).toEqual([
        0,
        [],
      ]);
      expect(ACTED_ON.test(stderr)).toBe(false);
      // The attributes of one span alone.
      expect(stdout.length).toBeGreaterThan(
        target === 'parquet' ? MANY_ATTRIBUTES : 10 * MANY_ATTRIBUTES,
      );
      expect(stateOf()).toEqual(before);
    },
    60_000,
  );

  it('traces are dumped and checked as a recovery would leave them', () => {
    const before = stateOf();
    const dumped = run('dump', join(traces, 'killed'));
    expect(dumped.status).toBe(0);
    expect(dumped.stderr.match(/was killed: this is what `tracewright recover/g)).toHaveLength(5);
    expect(dumped.stdout.toString().split('\n').length).toBeGreaterThan(5 * 499);
    const hostile = run('dump', join(traces, 'hostile.heph'));
    expect([hostile.status, ACTED_ON.test(hostile.stdout.toString())]).toEqual([0, false]);
    const checked = run('check', '--rings', join(traces, 'killed'));
    expect(checked.stdout.toString()).toMatch(/^0 errors, \d+ warnings?$/m);
    expect(checked.stdout.toString()).not.toContain('ring-left');
    expect(stateOf()).toEqual(before);
  }, 60_000);
});

describe('without a binary, by paths of Windows', () => {
  const preload = join(place, 'windows-paths.cjs');

  beforeAll(() => {
    cpSync(fileURLToPath(new URL('windows-paths.cjs', import.meta.url)), preload);
  });

  /** An output without what makes paths those of Windows. */
  const plain = (text: string, root: string): string =>
    text.replaceAll(/\\+/g, '/').replaceAll(`${root.replaceAll(/\\+/g, '/')}${place}`, place);

  it.each([
    ['C:', '\\', ['dump', join(traces, 'killed')]],
    ['\\\\server\\share', '\\', ['check', '--rings', join(traces, 'killed')]],
    ['c:', '/', ['convert', '--to', 'otlp', join(traces, 'killed'), '-']],
    ['d:', '\\', ['report', '--json', '--cache', join(output, 'cache'), traces]],
  ])(
    'traces in %s are read as here, with %s: %j',
    (root, separator, args) => {
      const there = args.map((arg) =>
        arg.startsWith('/') ? root + arg.replaceAll('/', separator) : arg,
      );
      const wanted = run(...args);
      for (let i = 0; i < 2; i++) {
        const { status, stdout, stderr } = runNode('--require', preload, main, ...there);
        expect([status, plain(stderr, root)]).toEqual([wanted.status, plain(wanted.stderr, root)]);
        expect(plain(stdout.toString(), root) === plain(wanted.stdout.toString(), root)).toBe(true);
        if (args[0] !== 'report') return;
        // The second time from the index of that path, which is not that of the path here.
        const entries = readdirSync(join(output, 'cache'));
        expect(entries).toHaveLength(2);
      }
    },
    60_000,
  );
});
