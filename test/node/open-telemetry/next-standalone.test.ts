import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';
import { faultsOf } from '../written-traces.js';
import { dependencies, install, place, recordedIn, treeOf } from './installed.js';

const NAME = 'next-standalone';
const ENV = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };

/** Builds the application, unless an earlier run has; returns its server. */
function build(): string {
  const directory = install(NAME, [], dependencies('next', 'pg'));
  const programs = fileURLToPath(new URL('programs/', import.meta.url));
  cpSync(join(programs, NAME), directory, { recursive: true });
  const server = join(directory, '.next', 'standalone', 'programs', NAME, 'server.js');
  if (existsSync(server)) return server;
  const next = join(place!, 'node_modules', 'next', 'dist', 'bin', 'next');
  const { status, stdout, stderr } = spawnSync(process.execPath, [next, 'build'], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, ...ENV },
  });
  if (status !== 0) throw new Error(stdout + stderr);
  return server;
}

describe.skipIf(place === undefined)("Next.js' standalone output", { timeout: 600_000 }, () => {
  it('has the queries of a package that is left out of the bundle below the request', async () => {
    const service = new TracedProcess(build(), {
      env: { ...ENV, TRACEWRIGHT_CONTEXT: 'on', PORT: '0', HOSTNAME: '127.0.0.1' },
    });
    const [, port] = await service.printed(/http:\/\/127\.0\.0\.1:([1-9]\d*)/);
    await service.printed(/Ready/);
    for (let i = 0; i < 2; i++) {
      const response = await fetch(`http://127.0.0.1:${port}/orders`);
      expect(await response.json()).toEqual([{ id: 7 }]);
    }
    service.kill('SIGTERM');
    const { stderr } = await service.ended();
    expect(stderr).not.toContain('TracewrightWarning');
    expect(faultsOf(service.directory)).toEqual([]);
    const spans = await recordedIn(service.directory);
    const requests = spans.filter(
      ({ kind, scope }) => kind === 'server' && scope?.name === 'tracewright/register',
    );
    expect(requests.map(({ name }) => name)).toEqual(['GET /orders', 'GET /orders']);
    for (const { traceId } of requests) {
      const tree = treeOf(spans.filter((span) => span.traceId === traceId));
      expect(tree.filter((line) => line.endsWith('tracewright/pg: SELECT'))).toHaveLength(1);
    }
  });
});
