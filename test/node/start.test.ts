import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TracedProcess } from './traced-process.js';
import type { Hook } from './traced-process.js';
import { faultsOf, requestsOf, spansOf } from './written-traces.js';

interface Loaded {
  /** Of the package. */
  files: string[];
  bytes: number;
  /** Whether Node's observer of performance entries is loaded. */
  observes: boolean;
}

/** What the hook has loaded before the program. */
async function loadedFiles(hook: Hook, env: Record<string, string>): Promise<Loaded> {
  const program = new TracedProcess('loaded-files.cjs', { hook, env });
  const { code, stderr, stdout } = await program.ended();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Loaded;
}

it.each([
  ['--import', 'off', []],
  // The first request of a program may have made its headers before it is announced.
  ['-r', 'on', ['node/stored-headers.js']],
] as const)('little is loaded before the program, %s, context %s', async (hook, context, more) => {
  // The first start of a build compiles, and loads what does that.
  await loadedFiles(hook, { TRACEWRIGHT_CONTEXT: context });
  const { files, bytes } = await loadedFiles(hook, { TRACEWRIGHT_CONTEXT: context });
  expect(files.sort()).toEqual(
    [
      'core/load-addon.js',
      'core/start.js',
      'node/hook.js',
      'node/register.js',
      'node/start.js',
      ...more,
    ].sort(),
  );
  // What is longer than this may well belong to what is loaded later.
  expect(bytes).toBeLessThan(190_000);
});

it.each([
  ['auto', false],
  ['auto,net', true],
])("Node's observer of entries is loaded with net alone: %s", async (libraries, isLoaded) => {
  const { files, observes } = await loadedFiles('-r', {
    // The context loads node:http, which loads the observer.
    TRACEWRIGHT_CONTEXT: 'off',
    TRACEWRIGHT_LIBRARIES: libraries,
    TRACEWRIGHT_STALL_MS: '50',
    TRACEWRIGHT_GC_MS: '0',
  });
  expect(files.includes('node/name-look-ups.js')).toBe(isLoaded);
  expect(observes).toBe(isLoaded);
});

it('a short process without a span has no Heph file, and no ovni trace', async () => {
  const program = new TracedProcess('quiet.mjs');
  expect(await program.ended()).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(join(program.directory, 'heph'))).toEqual([]);
  expect(readdirSync(program.directory)).toEqual(['heph']);
  expect(faultsOf(program.directory)).toEqual([]);
});

it.each([
  ['node:http', 'off'],
  ['fetch', 'off'],
  ['node:http', 'on'],
  ['fetch', 'on'],
])('the first request of a process is a span: %s, context %s', async (client, context) => {
  const server = new TracedProcess('service.mjs', { hook: 'none' });
  const url = `http://127.0.0.1:${await server.port()}/`;
  const program = new TracedProcess('one-request.mjs', {
    args: [client, url],
    env: { TRACEWRIGHT_CONTEXT: context },
  });
  expect(await program.ended()).toMatchObject({ code: 0, stderr: '' });
  server.kill('SIGTERM');
  const names = spansOf(program.directory).map(({ description }) => description);
  expect(names.filter((name) => name === 'GET')).toHaveLength(1);
});

it('threads whose first requests come at once write one Heph file', async () => {
  const service = new TracedProcess('two-servers.mjs', { env: { TRACEWRIGHT_CONTEXT: 'off' } });
  const ports = [await service.port(), Number((await service.printed(/^worker (\d+)$/m))[1])];
  await Promise.all(
    ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/first-${port}`)).text()),
  );
  service.kill('SIGTERM');
  await service.ended();
  expect(readdirSync(join(service.directory, 'heph'))).toHaveLength(1);
  const paths = requestsOf(service.directory).map(({ path }) => path);
  expect(paths.sort()).toEqual(ports.map((port) => `/first-${port}`).sort());
  expect(faultsOf(service.directory)).toEqual([]);
});
