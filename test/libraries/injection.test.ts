import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
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

/** Lets a program find the package that injects. */
async function linkInjector(directory: string): Promise<void> {
  const packages = join(await installedPackages('newest'), 'node_modules');
  symlinkSync(join(packages, '@apm-js-collab'), join(directory, 'node_modules/@apm-js-collab'));
}

async function run(script: string, cwd: string): Promise<{ stdout: string; stderr: string }> {
  const traced = new TracedProcess(`file://${script}`, {
    env: { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_INJECT: 'pg,hono' },
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
    await linkInjector(directory);
    const { stdout, stderr } = await run(script, directory);
    expect(stdout).toBe('7');
    expect(stderr).toContain(
      'TracewrightWarning: pg is not traced: Failed to find injection points',
    );
  });

  it('runs as it is, with a warning, if an ES module has another form', async () => {
    const directory = temporaryDirectory();
    const place = join(directory, 'node_modules/hono');
    mkdirSync(join(place, 'dist'), { recursive: true });
    const manifest = { name: 'hono', version: '4.99.0', type: 'module' };
    writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(place, 'dist/compose.js'), 'export default 7;');
    const script = join(directory, 'program.mjs');
    // On Node 20 the warning comes from another thread.
    const program = [
      "import seven from 'hono/dist/compose.js';",
      'process.stdout.write(String(seven));',
      'await new Promise((resolve) => setTimeout(resolve, 300));',
    ].join('\n');
    writeFileSync(script, program);
    await linkInjector(directory);
    const { stdout, stderr } = await run(script, directory);
    expect(stdout).toBe('7');
    expect(stderr).toContain(
      'TracewrightWarning: hono is not traced: Failed to find injection points',
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
