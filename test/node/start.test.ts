import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TracedProcess } from './traced-process.js';
import { faultsOf, requestsOf, spansOf } from './written-traces.js';

it('what a process loads before its program is little, by either way of preloading', async () => {
  for (const hook of ['--import', '-r'] as const) {
    const program = new TracedProcess('loaded-files.cjs', { hook });
    const { code, stderr, stdout } = await program.ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { files, bytes } = JSON.parse(stdout) as { files: string[]; bytes: number };
    expect(files.sort()).toEqual([
      'core/load-addon.js',
      'core/start.js',
      'node/enabled.js',
      'node/register.js',
      'node/start.js',
      'ovni/start.js',
    ]);
    // What is longer than this may well belong to what is loaded later.
    expect(bytes).toBeLessThan(150_000);
  }
});

it('a process without a span has an ovni trace, and no Heph file', async () => {
  const program = new TracedProcess('quiet.mjs');
  expect(await program.ended()).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(join(program.directory, 'heph'))).toEqual([]);
  expect(readdirSync(join(program.directory, 'ovni'))).toHaveLength(1);
  expect(faultsOf(program.directory)).toEqual([]);
});

it.each(['node:http', 'fetch'])('the first request of a process is a span: %s', async (client) => {
  const server = new TracedProcess('service.mjs', { hook: 'none' });
  const url = `http://127.0.0.1:${await server.port()}/`;
  const program = new TracedProcess('one-request.mjs', { args: [client, url] });
  expect(await program.ended()).toMatchObject({ code: 0, stderr: '' });
  server.kill('SIGTERM');
  expect(spansOf(program.directory)).toMatchObject([
    { attributes: { method: 'GET', path: '/', status: 200n } },
  ]);
});

it('threads whose first requests come at once write one Heph file', async () => {
  const service = new TracedProcess('two-servers.mjs');
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
