import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { command, installCopy, newProject, runNode } from './installed-copy.js';

// Two copies of the package in one process: that of the program, and that of one of its dependencies.

const SERVICE = `
  const http = require('node:http');
  const server = http.createServer((request, response) => response.end('hello'));
  server.listen(0, '127.0.0.1', () => {
    http.get({ port: server.address().port, path: '/once' }, (response) => {
      response.resume().on('end', () => server.close());
    });
  });`;

/** A project whose dependency has a copy of its own. */
function project(scripts: Record<string, string>, dependencyVersion?: string): string {
  const directory = newProject({
    'dependency/index.cjs': `
      exports.ovni = require('tracewright/ovni');
      exports.heph = require('tracewright/heph');`,
    ...scripts,
  });
  installCopy(directory);
  installCopy(
    join(directory, 'dependency'),
    dependencyVersion === undefined ? {} : { version: dependencyVersion },
  );
  return directory;
}

async function dump(directory: string, trace: string): Promise<string> {
  const checked = await runNode(directory, [command, 'check', trace]);
  expect(checked.stdout + checked.stderr).not.toMatch(/[1-9]\d* errors/);
  expect(checked.code).toBe(0);
  return (await runNode(directory, [command, 'dump', trace])).stdout;
}

it('has one stream for each thread, which all copies see', async () => {
  const directory = project({
    'main.cjs': `
      const ovni = require('tracewright/ovni');
      const other = require('./dependency/index.cjs').ovni;
      console.log('two copies', ovni.emit !== other.emit, ovni.TracewrightError !== other.TracewrightError);
      ovni.procInit(1, 'node.1', 1, { traceDir: 'trace', version: 3 });
      ovni.threadInit(7);
      console.log('ready', other.threadIsReady());
      other.addCpu(0, 0);
      other.event('OHx(i32 cpu, i32 tid, u64 tag)')(0, 7, 0);
      other.markType(1, 'phase', { stack: true });
      other.markPush(1, 5);
      ovni.emit('OB.');
      other.emit('OB.');
      ovni.markPop(1, 5);
      try { other.threadInit(8); } catch (error) {
        console.log('errors', error instanceof ovni.TracewrightError, error instanceof other.TracewrightError,
          error instanceof ovni.TraceFormatError, error.code);
      }
      ovni.event('OHe')();
      other.threadFree();
      console.log('ready', ovni.threadIsReady());
      other.procFini();
      const traces = [require('tracewright/heph'), require('./dependency/index.cjs').heph].map(
        ({ openTrace }) => openTrace('both.heph'));
      for (const trace of traces) {
        const stream = trace.stream();
        for (let i = 0; i < 1000; i++) stream.finishTrace(stream.startTrace(), 'span of both');
      }
      for (const trace of traces) trace.close();`,
  });
  const { code, stdout, stderr } = await runNode(directory, ['main.cjs']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual([
    'two copies true true',
    'ready true',
    'errors true true false ERR_ORDER',
    'ready false',
    '',
  ]);
  const text = await dump(directory, 'trace');
  expect(text.split('\n').filter((line) => line.includes('OB.'))).toHaveLength(2);
  expect(text.match(/OM[[\]]/g)).toEqual(['OM[', 'OM]']);
  const spans = await dump(directory, 'both.heph');
  expect(spans.split('\n').filter((line) => line.includes('span of both'))).toHaveLength(2000);
});

it('records a request once, whichever copies are preloaded', async () => {
  const directory = project({ 'service.cjs': SERVICE });
  const second = join(directory, 'dependency', 'node_modules', 'tracewright', 'dist', 'node');
  const preloads = ['--import', 'tracewright/register', '-r', join(second, 'register.js')];
  const { code, stderr } = await runNode(directory, [...preloads, 'service.cjs'], {
    TRACEWRIGHT_DIR: 'run',
  });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const text = await dump(directory, 'run/heph');
  // The server's span and the client's.
  expect(text.split('\n').filter((line) => line.includes('/once'))).toHaveLength(2);
});

it('switches a copy of another version off, with one warning', async () => {
  const directory = project(
    {
      'main.cjs': `
        const ovni = require('tracewright/ovni');
        const other = require('./dependency/index.cjs');
        ovni.procInit(1, 'node.1', 1, { traceDir: 'trace', version: 3 });
        ovni.threadInit(7);
        console.log('ready', other.ovni.threadIsReady());
        other.ovni.procInit(1, 'node.1', 1, { traceDir: 'other' });
        other.ovni.threadInit();
        other.ovni.emit('OB.');
        const trace = other.heph.openTrace('other.heph');
        const stream = trace.stream();
        stream.finishTrace?.(stream.startTrace(), 'x', {});
        console.log(trace.stats().recorded, require('node:fs').readdirSync('.').sort().join(' '));
        ovni.addCpu(0, 0);
        ovni.event('OHx(i32 cpu, i32 tid, u64 tag)')(0, 7, 0);
        ovni.emit('OB.');
        ovni.event('OHe')();
        ovni.threadFree();
        ovni.procFini();`,
    },
    '99.0.0',
  );
  const { code, stdout, stderr } = await runNode(directory, ['--no-deprecation', 'main.cjs']);
  expect(code).toBe(0);
  expect(stdout).toBe('ready false\n0 dependency main.cjs node_modules trace\n');
  expect(stderr.match(/TRACEWRIGHT_OFF/g)).toHaveLength(1);
  expect(stderr).toMatch(/version \S+ of tracewright is loaded already, this is 99\.0\.0/);
  const text = await dump(directory, 'trace');
  expect(text.split('\n').filter((line) => line.includes('OB.'))).toHaveLength(1);
});

it('has one state for the hook and the contexts of a test runner', async () => {
  const directory = newProject({
    'package.json': '{ "type": "module" }',
    'vitest.config.mjs': `export default { test: { pool: 'vmThreads', include: ['*.spec.mjs'] } };`,
    'service.spec.mjs': `
      import { createServer } from 'node:http';
      import { expect, it } from 'vitest';
      import * as ovni from 'tracewright/ovni';
      it('serves', async () => {
        expect(ovni.threadIsReady()).toBe(true);
        ovni.markType(7, 'phase', { stack: true });
        ovni.markPush(7, 5);
        ovni.markPop(7, 5);
        const server = createServer((request, response) => response.end('hello'));
        await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
        await (await fetch('http://127.0.0.1:' + server.address().port + '/once')).text();
        server.close();
      });`,
  });
  installCopy(directory);
  const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url));
  for (const name of ['vitest', 'vite', '@vitest']) {
    symlinkSync(join(modules, name), join(directory, 'node_modules', name));
  }
  const { code, stdout, stderr } = await runNode(
    directory,
    [join(modules, 'vitest', 'vitest.mjs'), 'run'],
    { TRACEWRIGHT_DIR: 'run', NODE_OPTIONS: '--import tracewright/register' },
  );
  expect(stderr).toBe('');
  expect(stdout).toContain('1 passed');
  expect(code).toBe(0);
  const marks = (await dump(directory, 'run/ovni')).match(/OM[[\]].*phase/g);
  expect(marks?.map((line) => line.slice(0, 3))).toEqual(['OM[', 'OM]']);
  // The server's span and the client's.
  expect((await dump(directory, 'run/heph')).match(/\/once/g)).toHaveLength(2);
});

/** Runs two workers, of which the second begins when the first one records, and ends first. */
const WORKERS = `
  const { Worker } = require('node:worker_threads');
  const first = new Worker('./first.cjs');
  first.on('message', () => {
    const second = new Worker('./dependency/second.cjs');
    second.on('exit', () => first.postMessage('end'));
  });`;

const FIRST_WORKER = `
  const { parentPort } = require('node:worker_threads');
  const ovni = require('tracewright/ovni');
  const { openTrace } = require('tracewright/heph');
  ovni.procInit(1, 'node.1', 1, { traceDir: 'trace', version: 3 });
  ovni.threadInit(1);
  ovni.addCpu(0, 0);
  ovni.addCpu(1, 1);
  ovni.event('OHx(i32 cpu, i32 tid, u64 tag)')(0, 1, 0);
  ovni.markType(7, 'phase', { stack: true });
  const trace = openTrace('both.heph');
  const stream = trace.stream();
  stream.finishTrace(stream.startTrace(), 'span of both');
  parentPort.postMessage('records');
  parentPort.once('message', () => {
    trace.close();
    ovni.event('OHe')();
    ovni.threadFree();
    ovni.procFini();
  });`;

const SECOND_WORKER = `
  const ovni = require('tracewright/ovni');
  const { openTrace } = require('tracewright/heph');
  ovni.threadInit(2);
  ovni.event('OHx(i32 cpu, i32 tid, u64 tag)')(1, 2, 0);
  ovni.markPush(7, 5);
  ovni.markPop(7, 5);
  const trace = openTrace('both.heph');
  const stream = trace.stream();
  stream.finishTrace(stream.startTrace(), 'span of both');
  console.log('recorded', trace.stats().recorded);
  trace.close();
  ovni.event('OHe')();
  ovni.threadFree();`;

const workers = {
  'main.cjs': WORKERS,
  'first.cjs': FIRST_WORKER,
  'dependency/second.cjs': SECOND_WORKER,
};

it('has one core for workers that have a copy each', async () => {
  const directory = project(workers);
  const { code, stdout, stderr } = await runNode(directory, ['main.cjs']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toBe('recorded 2\n');
  expect((await dump(directory, 'trace')).match(/OM[[\]].*phase/g)).toHaveLength(2);
  expect((await dump(directory, 'both.heph')).match(/span of both/g)).toHaveLength(2);
});

it('switches a worker off whose copy is of another version', async () => {
  const directory = project(workers, '99.0.0');
  const { code, stdout, stderr } = await runNode(directory, ['main.cjs']);
  expect(stderr.match(/TRACEWRIGHT_OFF/g)).toHaveLength(1);
  expect(stderr).toMatch(/version \S+ of tracewright is loaded already, this is 99\.0\.0/);
  expect(code).toBe(0);
  expect(stdout).toBe('recorded 0\n');
  expect((await dump(directory, 'both.heph')).match(/span of both/g)).toHaveLength(1);
});
