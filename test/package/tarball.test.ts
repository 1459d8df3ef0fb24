import { execFile, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

// What a user gets: the tarball, installed into a project that knows nothing of this checkout. Its binary is that of
// the checkout. `npm run test:platforms` makes the binaries as a release does.

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
/** Why the package cannot be made here, and nothing of this file can run. */
const obstacle =
  spawnSync('strip', ['--version']).status === 0 ? undefined : 'strip (binutils) is not installed';
const place = mkdtempSync(join(tmpdir(), 'tracewright-package-'));
const checkout = join(place, 'checkout');
const project = join(place, 'project');

/** As node-gyp-build names it. */
function binaryName(): string {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  const libc = header.glibcVersionRuntime === undefined ? 'musl.' : 'glibc.';
  return `tracewright.${process.platform === 'linux' ? libc : ''}node`;
}

interface Packed {
  filename: string;
  size: number;
  files: { path: string }[];
}
let packed: Packed;

/** npm without what this machine or an outer npm has set, and without a look at the network. */
function npm(args: string[], cwd: string): Promise<{ stdout: string; stderr: string }> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_')),
  );
  return run('npm', [...args, '--no-audit', '--no-fund', '--no-update-notifier'], {
    cwd,
    env,
    maxBuffer: 1 << 26,
  });
}

function node(args: string[], env: Record<string, string> = {}): Promise<{ stdout: string }> {
  return run(process.execPath, args, { cwd: project, env: { ...process.env, ...env } });
}

const LEFT_BEHIND = ['.git', 'node_modules', 'build', 'prebuilds', 'dist', 'traces', 'coverage'];

beforeAll(async () => {
  if (obstacle !== undefined) return;
  cpSync(root, checkout, {
    recursive: true,
    filter: (from) => !LEFT_BEHIND.some((name) => from === join(root, name)),
  });
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const folder = join(checkout, 'prebuilds', `${process.platform}-${process.arch}`);
  const binary = join(folder, binaryName());
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(root, 'build', 'Release', 'tracewright.node'), binary);
  // As prebuildify does.
  await run('strip', process.platform === 'darwin' ? [binary, '-Sx'] : [binary, '--strip-all']);
  const { stdout } = await npm(['pack', '--json', '--pack-destination', place], checkout);
  // What the script before it has printed comes first.
  packed = (JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as Packed[])[0]!;

  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "version": "1.0.0" }\n');
  await npm(['install', '--offline', join(place, packed.filename)], project);
}, 300_000);

afterAll(() => {
  rmSync(place, { recursive: true, force: true });
});

beforeEach(({ skip }) => {
  skip(obstacle !== undefined, `the package cannot be made: ${String(obstacle)}`);
});

test('holds what it needs and nothing else', () => {
  const paths = packed.files.map(({ path }) => path);
  const folders = new Set(paths.map((path) => path.split('/')[0]));
  // npm adds the texts by itself.
  for (const text of ['LICENSE', 'README.md']) folders.delete(text);
  expect([...folders].sort()).toEqual([
    'binding.gyp',
    'dist',
    'native',
    'package.json',
    'prebuilds',
  ]);
  expect(paths.filter((path) => /test|bench/.test(path))).toEqual([]);
  expect(paths.filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))).toEqual([]);
  const prebuilds = paths.filter((path) => path.startsWith('prebuilds/'));
  expect(prebuilds).toHaveLength(1);
  expect(prebuilds[0]).toMatch(
    new RegExp(`^prebuilds/${process.platform}-${process.arch}/tracewright\\.`),
  );
  // About a tenth of it is the page and the report, which no traced process loads.
  expect(packed.size).toBeLessThan(1_520_000);
});

test('runs nothing when it is installed', () => {
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean }>;
  };
  const { tracewright, ...others } = Object.fromEntries(
    Object.entries(lock.packages).map(([path, entry]) => [
      path.replace('node_modules/', ''),
      entry.hasInstallScript ?? false,
    ]),
  );
  expect(tracewright).toBe(false);
  expect(Object.values(others)).not.toContain(true);
  expect(existsSync(join(project, 'node_modules', 'tracewright', 'build'))).toBe(false);
});

test('asks for no C++ library', ({ skip }) => {
  skip(process.platform !== 'linux', 'elsewhere that is part of the system');
  const prebuilds = join(project, 'node_modules', 'tracewright', 'prebuilds');
  const [folder] = readdirSync(prebuilds);
  const [binary] = readdirSync(join(prebuilds, folder!));
  const bytes = readFileSync(join(prebuilds, folder!, binary!));
  expect(bytes.includes('libstdc++.so')).toBe(false);
});

/** The installed command. */
function tracewright(...args: string[]): Promise<{ stdout: string }> {
  return run(join(project, 'node_modules', '.bin', 'tracewright'), args, {
    cwd: project,
    maxBuffer: 1 << 26,
  });
}

/** Checks the trace that a script has left, and counts the bursts in it. */
async function burstsIn(trace: string): Promise<number> {
  await tracewright('check', trace);
  const { stdout } = await tracewright('dump', trace);
  return stdout.split('\n').filter((line) => line.includes('OB.')).length;
}

const TRACE = `
  ovni.procInit(1, 'node.1', 1, { traceDir: process.argv[2], version: 3 });
  ovni.threadInit(1);
  ovni.addCpu(0, 0);
  ovni.event('OHx(i32 cpu, i32 tid, u64 tag)')(0, 1, 0);
  for (let i = 0; i < 1000; i++) ovni.emit('OB.');
  ovni.event('OHe')();
  ovni.threadFree();
  ovni.procFini();
`;

test('traces when it is imported', async () => {
  const script = join(project, 'imported.mjs');
  writeFileSync(script, `import * as ovni from 'tracewright/ovni';\n${TRACE}`);
  await node([script, join(project, 'imported')]);
  expect(await burstsIn('imported')).toBe(1000);
});

// require(esm) is there by default from 20.19 on.
test('traces when it is required', async () => {
  const script = join(project, 'required.cjs');
  writeFileSync(script, `const ovni = require('tracewright/ovni');\n${TRACE}`);
  await node([script, join(project, 'required')]);
  expect(await burstsIn('required')).toBe(1000);
});

test('traces a service that does not know of it', async () => {
  const script = join(project, 'service.cjs');
  writeFileSync(
    script,
    `const http = require('node:http');
     const server = http.createServer((request, response) => response.end('hello'));
     server.listen(0, '127.0.0.1', () => {
       http.get({ port: server.address().port }, (response) => {
         response.resume().on('end', () => server.close());
       });
     });`,
  );
  await node(['--import', 'tracewright/register', script], {
    TRACEWRIGHT_DIR: join(project, 'service'),
  });
  const files = readdirSync(join(project, 'service'), { recursive: true }).map(String);
  expect(files.some((name) => name.endsWith('.heph'))).toBe(true);
  await tracewright('check', 'service');
  expect(files.filter((name) => name.endsWith('.ring'))).toEqual([]);
});

test('has types that a strict project resolves', async () => {
  const source = join(project, 'typed.mts');
  writeFileSync(
    source,
    `import { event, procInit } from 'tracewright/ovni';
     import { openTrace } from 'tracewright/heph';
     const place: { traceDir: string; procDir: string } = procInit(1, 'node.1');
     const burst: (n: number) => void = event('OB.(u32 n)');
     burst(1);
     const span = openTrace('file').stream().span('request', { method: 'string', status: 'u64' });
     span.finish(undefined, 'GET', 200);
     // @ts-expect-error the loom is a string
     procInit(1, 2);
     export { place };`,
  );
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'ES2022',
        module: 'NodeNext',
        moduleResolution: 'NodeNext',
        strict: true,
        noEmit: true,
        types: ['node'],
        typeRoots: [join(root, 'node_modules', '@types')],
      },
      files: ['typed.mts'],
    }),
  );
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = await node([tsc, '-p', project]).catch((error: unknown) => {
    return error as { stdout: string };
  });
  expect(stdout).toBe('');
});

test('brings the command', async () => {
  const { stdout } = await npm(['exec', '--offline', '--', 'tracewright', '--help'], project);
  expect(stdout).toContain('Usage: tracewright COMMAND');
});

test('loads the addon without a checkout beside it', async () => {
  const elsewhere = join(place, 'elsewhere');
  mkdirSync(elsewhere);
  cpSync(join(project, 'node_modules'), join(elsewhere, 'node_modules'), { recursive: true });
  copyFileSync(join(project, 'imported.mjs'), join(elsewhere, 'imported.mjs'));
  await run(process.execPath, [join(elsewhere, 'imported.mjs'), join(elsewhere, 'trace')]);
  expect(existsSync(join(elsewhere, 'trace'))).toBe(true);
});
