import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { plainCore } from '../../src/core/plain-core.js';
import { core } from '../../src/core/addon.js';
import { mismatchOf } from '../../src/core/addon.js';
import { installCopy, newProject, runNode } from './installed-copy.js';
import type { Outcome } from './installed-copy.js';

// The package where there is no binary for it: an unknown platform, or an installation without them.

/** Uses every function that opens a trace, and most methods of what they open. */
const EVERYTHING = `
  import { readdirSync } from 'node:fs';
  import * as ovni from 'tracewright/ovni';
  import { openTrace } from 'tracewright/heph';
  import * as dumpi from 'tracewright/dumpi';
  import * as laplace from 'tracewright/laplace';

  for (const version of [1, 3]) {
    ovni.procInit(1, 'node.1', 1, { version });
    ovni.procSetRank(0, 1);
    ovni.threadInit();
    ovni.addCpu(0, 0);
    ovni.threadRequire('nosv', '2.0.0');
    ovni.attrSet('a.b', 1);
    ovni.attrFlush();
    ovni.markType(1, 'phase', { stack: true });
    ovni.markLabel(1, 1, 'one');
    ovni.event('OHx(i32 cpu, i32 tid, u64 tag)')(0, 1, 0);
    const burst = ovni.event('OB.');
    for (let i = 0; i < 1000; i++) burst();
    ovni.emit('OB.');
    ovni.emitJumbo('OUj', new Uint8Array(16 << 20));
    ovni.markPush(1, 5);
    ovni.markPop(1, 5);
    ovni.flush();
    if (ovni.clockNow() <= 0n || ovni.procStats().writtenBytes !== 0) throw new Error('ovni');
    ovni.event('OHe')();
    ovni.threadFree();
    ovni.procFini();
  }

  const trace = openTrace('x.heph');
  const stream = trace.stream();
  const span = stream.span('request', { status: 'u64' });
  span.finish(stream.startTrace(), 200);
  if (trace.stats().recorded !== 0) throw new Error('heph');
  await trace.flush();
  await trace.close();

  const rank = dumpi.openRank({ rank: 0, size: 1, directory: 'ranks' });
  rank.log('MPI_Init', { argv: [] }, rank.enter());
  rank.functionEnter('f');
  rank.functionExit('f');
  rank.annotate('text');
  rank.keyval('a', 'b');
  if (rank.wrap('MPI_Barrier', { comm: dumpi.Comm.WORLD }, () => 7) !== 7) throw new Error('dumpi');
  await rank.flush();
  rank.close();

  for (const path of ['run.references', 'run.references.txt']) {
    const references = laplace.openReferences(path, { form: path.endsWith('.txt') ? 'text' : 'binary' });
    references.load(5n, 4, 1, 0x1000);
    const type = Uint8Array.of(0x72);
    const column = Uint32Array.of(1);
    references.batch({ type, timestamp: Float64Array.of(6), length: type, space: column, address: column });
    references.batch({ type, length: type, space: column, address: column });
    references.flush();
    references.close();
  }
  laplace.openKernelEvents('run.kernel').close();
  console.log(readdirSync('.').sort().join(' '));`;

const SERVICE = `
  const http = require('node:http');
  const { Worker, isMainThread } = require('node:worker_threads');
  const server = http.createServer((request, response) => response.end('hello'));
  server.listen(0, '127.0.0.1', async () => {
    await fetch('http://127.0.0.1:' + server.address().port);
    server.close();
    if (isMainThread) new Worker(__filename);
    else console.log('served');
  });`;

let project: string;

beforeAll(() => {
  project = newProject({
    'everything.mjs': EVERYTHING,
    'service.cjs': SERVICE,
    // Windows as far as JavaScript sees.
    'windows.cjs': `
      Object.defineProperty(process, 'platform', { value: 'win32' });
      Object.defineProperty(process, 'arch', { value: 'riscv64' });`,
  });
  installCopy(project, { withoutBinary: true });
});

function warnings({ stderr }: Outcome): string[] {
  return stderr.split('\n').filter((line) => line.includes('Warning'));
}

it.each([
  ['no binary', []],
  ['an unknown platform', ['--require', './windows.cjs']],
])('opens traces that record nothing: %s', async (_, preload) => {
  const outcome = await runNode(project, [...preload, 'everything.mjs']);
  expect(outcome.stderr.replace(/\(Use .*\n/, '')).toMatch(
    /^\(node:\d+\) \[TRACEWRIGHT_OFF\] .*\n$/,
  );
  expect(outcome.code).toBe(0);
  expect(outcome.stdout).toBe('everything.mjs node_modules service.cjs windows.cjs\n');
});

it('lets a service run, with one warning for all its threads', async () => {
  const outcome = await runNode(project, ['service.cjs'], {
    NODE_OPTIONS: '--import tracewright/register',
    TRACEWRIGHT_DIR: 'run',
  });
  expect(outcome.stdout).toBe('served\n');
  expect(warnings(outcome)).toHaveLength(1);
  expect(outcome.stderr).toContain('no binary for');
  expect(outcome.code).toBe(0);
  expect(existsSync(join(project, 'run'))).toBe(false);
});

it('lets the threads of a program share what is not recorded', async () => {
  const program = newProject({
    'threads.cjs': `
      const { Worker, isMainThread } = require('node:worker_threads');
      const ovni = require('tracewright/ovni');
      if (isMainThread) {
        ovni.procInit(1, 'node.1');
        ovni.threadInit();
        ovni.markType(7, 'phase', { stack: true });
        ovni.markType(8, 'level', { stack: false });
        new Worker(__filename).on('exit', (code) => console.log('ended', code));
      } else {
        ovni.threadInit();
        ovni.markPush(7, 5);
        ovni.markPop(7, 5);
        ovni.markSet(8, 5);
        ovni.threadFree();
      }`,
  });
  installCopy(program, { withoutBinary: true });
  const outcome = await runNode(program, ['threads.cjs']);
  expect(outcome.stdout).toBe('ended 0\n');
  expect(warnings(outcome)).toHaveLength(1);
});

it('fails where TRACEWRIGHT_REQUIRED=1 says so', async () => {
  const env = { TRACEWRIGHT_REQUIRED: '1' };
  const traced = await runNode(project, ['--import', 'tracewright/register', 'service.cjs'], env);
  expect(traced.code).not.toBe(0);
  expect(traced.stderr).toMatch(/TracewrightError: this process cannot be traced: no binary for/);
  const opened = await runNode(project, ['everything.mjs'], env);
  expect(opened.code).not.toBe(0);
  expect(opened.stderr).toContain("code: 'ERR_SYSTEM'");
});

/** Writes a trace of each format, and is killed before the last ones are complete. */
const KILLED = `
  import * as ovni from 'tracewright/ovni';
  import { openTrace } from 'tracewright/heph';
  import * as dumpi from 'tracewright/dumpi';
  import * as laplace from 'tracewright/laplace';
  import { configure, startSpan } from 'tracewright/spans';
  ovni.procInit(1, 'node.1', 1, { traceDir: 'traces/ovni', version: 3 });
  ovni.threadInit(1);
  ovni.addCpu(0, 0);
  ovni.event('OHx(i32 cpu, i32 tid, u64 tag)')(0, 1, 0);
  for (let i = 0; i < 1000; i++) ovni.emit('OB.');
  const stream = openTrace('traces/x.heph').stream();
  for (let i = 0; i < 1000; i++) stream.finishTrace(stream.startTrace(), 'span');
  const rank = dumpi.openRank({ rank: 0, size: 1, directory: 'traces/ranks' });
  for (let i = 0; i < 1000; i++) rank.log('MPI_Barrier', { comm: dumpi.Comm.WORLD });
  configure({ target: 'traces/spans.heph', service: 'killed' });
  for (let i = 0; i < 100; i++) startSpan('ended').end();
  startSpan('open');
  const references = laplace.openReferences('traces/run.references');
  for (let i = 0; i < 1000; i++) references.load(BigInt(i), 4, 1, 0x1000);
  process.kill(process.pid, 'SIGKILL');`;

/** Prints what readSpans finds in rings and files. */
const READ = `
  import { readSpans } from 'tracewright/spans';
  const found = {};
  for await (const { name, unfinished, resource } of readSpans('traces')) {
    const kind = [name, unfinished, resource?.attributes['service.name']].join(' ');
    found[kind] = (found[kind] ?? 0) + 1;
  }
  console.log(JSON.stringify(found));`;

it('recovers, checks, dumps and converts what came from elsewhere', async () => {
  const source = newProject({ 'killed.mjs': KILLED, 'read.mjs': READ });
  installCopy(source);
  await runNode(source, ['killed.mjs']);
  cpSync(join(source, 'traces'), join(project, 'traces'), { recursive: true });
  cpSync(join(source, 'traces'), join(source, 'expected'), { recursive: true });
  const command = join('node_modules', 'tracewright', 'dist', 'cli', 'main.js');
  const both = async (...args: string[]) => {
    const plain = await runNode(project, [command, ...args, 'traces']);
    expect(plain).toEqual(await runNode(source, [command, ...args, 'traces']));
    return plain;
  };
  writeFileSync(join(project, 'read.mjs'), READ);
  const spans = { 'ended false killed': 100, 'open true killed': 1 };
  for (const place of [project, source]) {
    const { code, stderr, stdout } = await runNode(place, ['read.mjs']);
    expect({ code, stderr, found: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      stderr: '',
      found: spans,
    });
  }
  const recovered = await both('recover');
  expect(recovered.code).toBe(0);
  expect(recovered.stderr).toBe('');
  const checked = await both('check');
  expect(checked.code).toBe(0);
  expect(checked.stdout.match(/acceptable/g)).toHaveLength(5);
  expect((await both('dump')).stdout.match(/OB\./g)).toHaveLength(1000);
  expect((await both('convert', '--to', 'perfetto')).stdout.length).toBeGreaterThan(100_000);
});

it('has everything that the native core has', () => {
  const plain = plainCore();
  expect(Object.keys(plain).sort()).toEqual(Object.keys(core).sort());
  expect(plain.control).toEqual(core.control);
});

/** Compiles an addon that is not of this version: its `interface` is older, and it has no functions. */
function compileOtherAddon(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const source = join(dirname(path), 'other.c');
  writeFileSync(
    source,
    `#include <node_api.h>
     NAPI_MODULE_INIT() {
       napi_value version;
       napi_create_uint32(env, 0, &version);
       napi_set_named_property(env, exports, "interface", version);
       return exports;
     }`,
  );
  const { include_dir: headers } = createRequire(import.meta.url)('node-api-headers') as {
    include_dir: string;
  };
  execFileSync('cc', ['-shared', '-fPIC', '-isystem', headers, '-o', path, source]);
}

it.skipIf(process.platform !== 'linux')('does not use a binary of another version', async () => {
  const other = newProject({ 'service.cjs': SERVICE, 'everything.mjs': EVERYTHING });
  installCopy(other, { withoutBinary: true });
  const path = join(other, 'node_modules/tracewright/build/Release/tracewright.node');
  compileOtherAddon(path);
  const run = await runNode(other, ['everything.mjs']);
  expect(run.code).toBe(0);
  expect(warnings(run)).toHaveLength(1);
  expect(run.stderr).toMatch(
    /tracewright\.node is of another version of tracewright: its interface is 0, and must be \d+/,
  );
  const hooked = await runNode(other, ['--import', 'tracewright/register', 'service.cjs']);
  expect(hooked.stdout).toBe('served\n');
  expect(warnings(hooked)).toHaveLength(1);
  const required = await runNode(other, ['everything.mjs'], { TRACEWRIGHT_REQUIRED: '1' });
  expect(required.code).not.toBe(0);
  expect(required.stderr).toContain('TracewrightError: this process cannot be traced');
});

it('detects another interface', () => {
  expect(mismatchOf(core)).toBeUndefined();
  expect(mismatchOf({})).toMatch(/^its interface is older than 1, and must be \d+$/);
  expect(mismatchOf({ ...core, interface: core.interface + 1 })).toMatch(/^its interface is \d+, /);
});
