import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory, TracedProcess } from '../node/traced-process.js';
import { installedPackages } from './packages.js';

/** A program with a package that calls itself pg. */
function programWith(version: string, client: string): { script: string; directory: string } {
  const directory = temporaryDirectory();
  const place = join(directory, 'node_modules/pg');
  mkdirSync(join(place, 'lib'), { recursive: true });
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name: 'pg', version }));
  writeFileSync(join(place, 'lib/client.js'), client);
  const script = join(directory, 'program.cjs');
  writeFileSync(script, "process.stdout.write(String(require('pg/lib/client.js')));");
  return { script, directory };
}

async function run(script: string, cwd: string): Promise<{ stdout: string; stderr: string }> {
  const traced = new TracedProcess(`file://${script}`, {
    env: { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_INJECT: 'pg' },
    cwd,
  });
  const { code, stdout, stderr } = await traced.ended();
  expect(code).toBe(0);
  return { stdout, stderr };
}

describe('a program that cannot be changed', () => {
  const client = 'module.exports = 7;';

  it('runs as it is, with a warning, if a library has another form', async () => {
    const { script, directory } = programWith('8.99.0', client);
    const packages = join(await installedPackages('newest'), 'node_modules');
    cpSync(packages, join(directory, 'node_modules'), {
      recursive: true,
      filter: (path) => !/node_modules[\\/]pg([\\/]|$)/.test(path),
    });
    const { stdout, stderr } = await run(script, directory);
    expect(stdout).toBe('7');
    expect(stderr).toContain(
      'TracewrightWarning: pg is not traced: Failed to find injection points',
    );
  });

  it('runs as it is if the library is of another major version', async () => {
    const { script } = programWith('9.0.0', client);
    const { stdout, stderr } = await run(script, await installedPackages('newest'));
    expect({ stdout, stderr }).toEqual({ stdout: '7', stderr: '' });
  });

  it('runs as it is, with a warning, without the package that injects', async () => {
    const { script, directory } = programWith('8.99.0', client);
    const { stdout, stderr } = await run(script, directory);
    expect(stdout).toBe('7');
    expect(stderr).toContain('TRACEWRIGHT_INJECT needs the package @apm-js-collab/tracing-hooks');
  });
});
