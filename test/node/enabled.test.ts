import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory, TracedProcess } from './traced-process.js';
import type { Ending } from './traced-process.js';

const register = fileURLToPath(new URL('../../dist/node/register.js', import.meta.url));
const command = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Prints whether it is traced, and which files of the package it has loaded. It does something that is traced. */
const PROGRAM = `
  const { basename } = require('node:path');
  const { readFileSync } = require('node:fs');
  const files = Object.keys(require.cache).filter((path) => path.includes('/dist/'));
  const addon = readFileSync('/proc/self/maps', 'utf8').includes('tracewright.node');
  console.log(JSON.stringify({ files: files.map((path) => basename(path)), addon }));
  require('node:http').get({ port: 1 }).on('error', () => undefined);
`;
/** Runs the program, as tsx does. */
const LAUNCHER = `
  require('node:child_process').spawnSync(process.execPath, process.argv.slice(2), { stdio: 'inherit' });
`;

/** Runs a file with the hook in NODE_OPTIONS; the traces go to `traces/` in the working directory. */
function run(
  path: string,
  options: { cwd: string; env?: Record<string, string>; args?: string[]; flags?: string[] },
): Promise<Ending> {
  const { env, ...rest } = options;
  return new TracedProcess(pathToFileURL(path).href, {
    hook: 'NODE_OPTIONS',
    env: { TRACEWRIGHT_DIR: '', ...env },
    ...rest,
  }).ended();
}

function write(directory: string, name: string, text: string): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** The names of what was traced, without date and pid. */
function traced(directory: string): string[] {
  const traces = join(directory, 'traces');
  if (!existsSync(traces)) return [];
  return readdirSync(traces).map((name) => name.replace(/-\d{4}-.*/, ''));
}

describe('TRACEWRIGHT_ENABLED', () => {
  it.each(['0', 'false', 'NO', ' off '])('%j switches everything off', async (value) => {
    const cwd = temporaryDirectory();
    const program = write(cwd, 'program.cjs', PROGRAM);
    const { stdout, stderr } = await run(program, { cwd, env: { TRACEWRIGHT_ENABLED: value } });
    expect(stderr).toBe('');
    expect(readdirSync(cwd)).toEqual(['program.cjs']);
    const { files, addon } = JSON.parse(stdout) as { files: string[]; addon: boolean };
    expect(addon).toBe(false);
    expect(files).not.toContain('start.js');
    expect(files).not.toContain('core.js');
  });

  it.each(['', '1', 'True'])('%j leaves the hook on', async (value) => {
    const cwd = temporaryDirectory();
    const program = write(cwd, 'program.cjs', PROGRAM);
    const { stdout, stderr } = await run(program, { cwd, env: { TRACEWRIGHT_ENABLED: value } });
    expect(stderr).toBe('');
    expect(stdout).toContain('"addon":true');
    expect(traced(cwd)).toEqual(['program']);
  });

  it('warns of any other value, and counts as not set', async () => {
    const cwd = temporaryDirectory();
    const program = write(cwd, 'program.cjs', PROGRAM);
    const { stderr } = await run(program, { cwd, env: { TRACEWRIGHT_ENABLED: 'disabled' } });
    expect(stderr).toContain(
      'TracewrightWarning: TRACEWRIGHT_ENABLED must be on or off, ' +
        'got "disabled"; it counts as not set',
    );
    expect(stderr.match(/Warning: /g)).toHaveLength(1);
    expect(traced(cwd)).toEqual(['program']);
  });
});

describe('tools that inherit the hook', () => {
  it('by npm, only the program is traced', () => {
    const cwd = temporaryDirectory();
    write(cwd, 'package.json', '{ "scripts": { "program": "node program.cjs" } }');
    write(cwd, 'program.cjs', PROGRAM);
    execFileSync('npm', ['run', '--silent', 'program'], {
      cwd,
      env: {
        ...process.env,
        NODE_OPTIONS: `--import ${register}`,
        TRACEWRIGHT_QUIET: '1',
      },
    });
    // One directory for all that npm starts.
    const [run] = readdirSync(join(cwd, 'traces')).filter((name) => name.startsWith('run-'));
    const names = readdirSync(join(cwd, 'traces', run!), { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => name.endsWith('.heph'))).toHaveLength(1);
  });

  it.each([
    ['tsx', 'dist/cli.mjs', 'import '],
    ['ts-node', 'dist/bin-esm.js', ''],
    ['pnpm', 'bin/pnpm.cjs', ''],
    ['yarn', 'bin/yarn.js', ''],
  ])('by %s, only the program is traced', async (tool, bin, isModule) => {
    const cwd = temporaryDirectory();
    const program = write(cwd, 'program.cjs', PROGRAM);
    const text =
      isModule === '' ? LAUNCHER : LAUNCHER.replace(/require\(('[^']+')\)/, '(await import($1))');
    const path = write(cwd, `node_modules/${tool}/${bin}`, text);
    const link = join(cwd, `node_modules/.bin/${tool}`);
    mkdirSync(dirname(link));
    symlinkSync(path, link);
    await run(link, { cwd, args: [program] });
    expect(traced(cwd)).toEqual(['program']);
  });

  it('by ts-node, which runs the program itself, the program gives the name', async () => {
    const cwd = temporaryDirectory();
    // As ts-node does it.
    const text = `
      process.argv = [process.argv[0], process.argv[3]];
      require('node:module').runMain();`;
    const path = write(cwd, 'node_modules/ts-node/dist/bin.js', text);
    await run(path, { cwd, args: ['-T', write(cwd, 'service.cjs', PROGRAM)] });
    expect(traced(cwd)).toEqual(['service']);
  });

  it('by ts-node, which starts a process for ES modules, only the program is traced', async () => {
    const cwd = temporaryDirectory();
    const program = write(cwd, 'program.cjs', PROGRAM);
    // What asks for that may be in tsconfig.json, too.
    const path = write(cwd, 'node_modules/ts-node/dist/bin.js', LAUNCHER);
    await run(path, { cwd, args: [program] });
    expect(traced(cwd)).toEqual(['program']);
  });

  it('our own command is not traced', async () => {
    const cwd = temporaryDirectory();
    expect(await run(command, { cwd, args: ['--version'] })).toMatchObject({ code: 0, stderr: '' });
    expect(traced(cwd)).toEqual([]);
  });

  it.each([
    ['by TRACEWRIGHT_ENABLED=1', { TRACEWRIGHT_ENABLED: '1' }, []],
    ['by their own command line', {}, ['--import', register]],
  ])('are traced if asked for %s', async (_, env: Record<string, string>, flags) => {
    const cwd = temporaryDirectory();
    const program = write(cwd, 'program.cjs', PROGRAM);
    const path = write(cwd, 'node_modules/yarn/bin/yarn.js', LAUNCHER);
    await run(path, { cwd, env, flags, args: [program] });
    // The program joins the run of the process that has begun it.
    expect(traced(cwd)).toEqual(['yarn']);
  });
});
