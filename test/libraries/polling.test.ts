import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Report } from '../../src/look/report/shape/report-shape.js';
import { describeWith } from './servers.js';
import { below, lineOf, runLibrary } from './traced-library.js';

const command = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

function reportOf(directory: string, ...options: string[]): string {
  return spawnSync(process.execPath, [command, 'report', join(directory, 'heph'), ...options], {
    encoding: 'utf8',
  }).stdout;
}

await describeWith(['Redis'], 'commands that no span asks for', () => {
  it.each([
    ['ioredis', 'ioredis'],
    ['redis', '@redis/client'],
  ])('of %s are counted, and are no roots', async (name, path) => {
    const watched = { TRACEWRIGHT_STALL_MS: '60000' };
    const run = (env: Record<string, string>): ReturnType<typeof runLibrary> =>
      runLibrary('polling', 'newest', path, { ...watched, ...env }, [name]);
    const [counted, named] = await Promise.all([
      run({}),
      run({ TRACEWRIGHT_LIBRARIES: `auto,${name}` }),
    ]);
    const roots = (run: Awaited<typeof counted>): string[] =>
      run.spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(lineOf);
    expect(roots(counted).sort()).toEqual(['asked', 'redis connect']);
    expect(below(counted.spans, 'asked').map(lineOf)).toEqual(['GET']);
    const commands = roots(named).filter((line) => line !== 'asked' && line !== 'redis connect');
    expect(commands.filter((line) => line === 'GET')).toHaveLength(20);

    const { outside } = JSON.parse(reportOf(counted.directory, '--json')) as Report;
    // The last command is that the client quits, after the last sample.
    const before = commands.filter((line) => line !== 'QUIT');
    expect(outside.count).toBeGreaterThanOrEqual(21);
    expect(outside.count).toBeLessThanOrEqual(before.length + 3);
    expect(outside.time / outside.count).toBeGreaterThan(1000);
    expect(outside.time / outside.count).toBeLessThan(1e9);
    expect(reportOf(counted.directory)).toContain(
      `${outside.count} calls of libraries outside any span`,
    );
  });
});
