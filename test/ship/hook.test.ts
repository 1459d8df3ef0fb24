import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { Receiver } from './receiver.js';

const directory = temporaryDirectory();
const hook = new URL('../../dist/node/register.js', import.meta.url).href;
const program = fileURLToPath(new URL('fixtures/answering.mjs', import.meta.url));
const shippers: number[] = [];
/** As if no test runner had started it. */
const environment = { ...process.env };
delete environment['VITEST'];
delete environment['JEST_WORKER_ID'];

afterEach(() => {
  for (const pid of shippers.splice(0)) {
    try {
      process.kill(pid);
    } catch {
      // It has ended.
    }
  }
});

it('TRACEWRIGHT_SHIP sends what a service records, also after the service was killed', async () => {
  const receiver = await new Receiver().listen();
  const cwd = join(directory, 'service');
  mkdirSync(cwd);
  const url = `http://user:secret-word@${receiver.url.slice('http://'.length)}`;
  const service = spawn(process.execPath, ['--import', hook, program], {
    cwd,
    env: {
      ...environment,
      TRACEWRIGHT_SHIP: url,
      TRACEWRIGHT_CONTEXT: 'on',
      XDG_STATE_HOME: join(directory, 'state'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  service.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const [port] = (await once(service.stdout.setEncoding('utf8'), 'data')) as [string];
  const pid = Number(/process (\d+) sends spans to/.exec(errors)?.[1]);
  shippers.push(pid);
  expect(errors).not.toContain('secret-word');
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('secret-word');
  await fetch(`http://127.0.0.1:${port.trim()}/ended`).then((answer) => answer.text());
  await vi.waitFor(
    () => {
      expect(receiver.spans.map(({ name }) => name)).toContain('GET');
    },
    { timeout: 30_000 },
  );
  void fetch(`http://127.0.0.1:${port.trim()}/open`).catch(() => undefined);
  await once(service.stdout, 'data');
  const before = receiver.spans.length;
  service.kill('SIGKILL');
  // Its output ends with it: the process that sends has none of its pipes.
  await once(service, 'close');
  await vi.waitFor(
    () => {
      expect(receiver.spans.length).toBeGreaterThan(before);
    },
    { timeout: 30_000 },
  );
  expect(receiver.requests[0]!.headers.authorization).toMatch(/^Basic /);
  const [run] = readdirSync(join(cwd, 'traces'));
  const log = readFileSync(join(cwd, 'traces', run!, 'ship.log'), 'utf8');
  expect(log).toContain('tracewright ship: follows');
  expect(log).not.toContain('secret-word');
  await receiver.close();
});

it('TRACEWRIGHT_SHIP sends of a service with TRACEWRIGHT_KEEP what is kept, at once', async () => {
  const receiver = await new Receiver().listen();
  const cwd = join(directory, 'kept');
  mkdirSync(cwd);
  const failing = fileURLToPath(new URL('fixtures/failing.mjs', import.meta.url));
  const service = spawn(process.execPath, ['--import', hook, failing], {
    cwd,
    env: {
      ...environment,
      TRACEWRIGHT_SHIP: receiver.url,
      TRACEWRIGHT_KEEP: 'errors',
      TRACEWRIGHT_CONTEXT: 'on',
      XDG_STATE_HOME: join(directory, 'kept-state'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  service.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const [port] = (await once(service.stdout.setEncoding('utf8'), 'data')) as [string];
  const ask = async (path: string): Promise<void> => {
    await (await fetch(`http://127.0.0.1:${port.trim()}${path}`)).text();
  };
  // Those of the process itself, such as collections, are sent too.
  const requests = (): string[] =>
    receiver.spans.map(({ name }) => name).filter((name) => name.startsWith('GET'));
  for (let n = 0; n < 20; n++) await ask('/healthy');
  await ask('/fails');
  await vi.waitFor(
    () => {
      expect(requests()).toEqual(['GET /fails']);
    },
    { timeout: 30_000 },
  );
  for (let n = 0; n < 20; n++) await ask('/healthy');
  await ask('/fails');
  service.kill('SIGTERM');
  await once(service, 'close');
  shippers.push(Number(/process (\d+) sends spans to/.exec(errors)?.[1]));
  await vi.waitFor(
    () => {
      expect(requests()).toEqual(['GET /fails', 'GET /fails']);
    },
    { timeout: 30_000 },
  );
  await receiver.close();
});

it('TRACEWRIGHT_SHIP starts one process for a cluster of 16', async () => {
  const receiver = await new Receiver().listen();
  const cwd = join(directory, 'cluster');
  mkdirSync(cwd);
  const cluster = fileURLToPath(new URL('fixtures/cluster.mjs', import.meta.url));
  const service = spawn(process.execPath, ['--import', hook, cluster, '16'], {
    cwd,
    env: {
      ...environment,
      TRACEWRIGHT_SHIP: receiver.url,
      XDG_STATE_HOME: join(directory, 'cluster-state'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  service.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  await once(service.stdout, 'data');
  await vi.waitFor(
    () => {
      expect(receiver.spans.filter(({ name }) => name === 'of a worker')).toHaveLength(16);
    },
    { timeout: 60_000 },
  );
  const pids = [...errors.matchAll(/process (\d+) sends spans to/g)].map(([, pid]) => Number(pid));
  shippers.push(...pids);
  expect(pids).toHaveLength(1);
  expect(errors).toContain('in 60 to 100 MB of memory');
  const inherited = readFileSync(`/proc/${pids[0]}/environ`, 'utf8');
  expect(inherited).not.toContain('NODE_OPTIONS');
  expect(inherited.split('\0')).toContain('MALLOC_ARENA_MAX=2');
  service.kill('SIGTERM');
  await once(service, 'close');
  await receiver.close();
});

it.each([
  ['NODE_TEST_CONTEXT', 'child'],
  ['JEST_WORKER_ID', '1'],
  ['VITEST', 'true'],
])(
  'TRACEWRIGHT_SHIP starts nothing where %s says that a test runner has started it',
  async (name, value) => {
    const cwd = join(directory, name);
    mkdirSync(cwd);
    const service = spawn(process.execPath, ['--import', hook, program], {
      cwd,
      env: { ...environment, TRACEWRIGHT_SHIP: 'http://127.0.0.1:9', [name]: value },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(service.stdout, 'data');
    service.kill();
    await once(service, 'close');
    const [run] = readdirSync(join(cwd, 'traces')).filter((name) => !name.startsWith('.'));
    expect(readdirSync(join(cwd, 'traces', run!))).not.toContain('ship.log');
  },
);
