import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import v8 from 'node:v8';
import { expect, it } from 'vitest';
import { installCopy, newProject, runNode } from '../../package/installed-copy.js';

const isRoot = process.geteuid?.() === 0;
const USUAL = `${process.version}-${process.arch}`;
const FILES = ['core/load-addon', 'core/start', 'node/start'];

/** Prints of each file of the package whether V8 has taken saved code, and how it ended. */
const SPY = `
  const vm = process.getBuiltinModule('node:vm');
  const taken = {};
  const { compileFunction } = vm;
  vm.compileFunction = (code, parameters, options) => {
    const made = compileFunction(code, parameters, options);
    const [, file] = /dist\\/(.*)\\.js$/.exec(options?.filename) ?? [];
    if (file !== undefined) taken[file] = options.cachedData !== undefined && !made.cachedDataRejected;
    return made;
  };
  process.on('exit', () => {
    const { threadIsReady } = require('tracewright/ovni');
    const files = Object.keys(require.cache).filter((path) => /dist.(core|node).start\\.js$/.test(path));
    console.log(JSON.stringify({ taken, ready: threadIsReady(), files: files.length }));
  });`;

/** Prints the bytes of objects in V8's C++ heap, when the code has been saved. */
const BYTES = `
  setTimeout(() => {
    const { space_statistics } = require('node:v8').getCppHeapStatistics('detailed');
    console.log(space_statistics.reduce((sum, { used_size_bytes }) => sum + used_size_bytes, 0));
  }, 1500);`;

const SAVED = Object.fromEntries(FILES.map((file) => [file, true]));
const COMPILED = Object.fromEntries(FILES.map((file) => [file, false]));

function project(): { directory: string; dist: string; cache: string } {
  const directory = newProject({
    'spy.cjs': SPY,
    'main.cjs': '',
    'wait.cjs': 'setTimeout(() => {}, 1500)',
    'bytes.cjs': BYTES,
  });
  installCopy(directory);
  const dist = join(directory, 'node_modules', 'tracewright', 'dist');
  return { directory, dist, cache: join(dist, 'code-cache') };
}

let runs = 0;

/** Starts a process with the hook; returns what of its files V8 has compiled before. */
async function start(
  directory: string,
  {
    flags = [],
    env = {},
    main = 'main.cjs',
    hook = '-r',
  }: {
    flags?: string[];
    env?: Record<string, string>;
    main?: string;
    hook?: string;
  } = {},
): Promise<Record<string, boolean>> {
  const { code, stdout, stderr } = await runNode(
    directory,
    [...flags, '-r', './spy.cjs', hook, 'tracewright/register', main],
    { TRACEWRIGHT_DIR: join(directory, `run-${++runs}`), ...env },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { taken, ready, files } = JSON.parse(stdout) as {
    taken: Record<string, boolean>;
    ready: boolean;
    files: number;
  };
  // The program shares the modules that the hook has loaded.
  expect({ ready, files }).toEqual({ ready: true, files: 2 });
  return taken;
}

it.each(['-r', '--import'])('the second start takes what the first has saved, %s', async (hook) => {
  const { directory, cache } = project();
  expect(await start(directory, { hook })).toEqual(COMPILED);
  expect(readdirSync(cache)).toEqual([USUAL]);
  expect(lstatSync(join(cache, USUAL)).mode & 0o777).toBe(0o644);
  expect(await start(directory, { hook })).toEqual(SAVED);
  expect(readdirSync(cache)).toEqual([USUAL]);
});

it('a process that goes on saves it after a second', async () => {
  const { directory, cache } = project();
  const started = start(directory, { main: 'wait.cjs' });
  await expect.poll(() => existsSync(join(cache, USUAL)), { timeout: 20_000 }).toBe(true);
  await started;
  expect(await start(directory)).toEqual(SAVED);
});

it('each set of flags of V8 has its own', async () => {
  const { directory, cache } = project();
  const flags = ['--stack-size=900'];
  await start(directory);
  expect((await start(directory, { flags }))['node/start']).toBe(false);
  expect(readdirSync(cache)).toHaveLength(2);
  expect(await start(directory, { flags })).toEqual(SAVED);
  expect(await start(directory)).toEqual(SAVED);
});

// An object of V8's C++ heap makes V8 collect a program at rest, and drop its optimized code.
it.runIf('getCppHeapStatistics' in v8)('leaves nothing in the C++ heap of V8', async () => {
  const { directory, cache } = project();
  const bytes = async (...flags: string[]): Promise<number> => {
    const { code, stdout } = await runNode(directory, [...flags, 'bytes.cjs'], {
      TRACEWRIGHT_QUIET: '1',
    });
    expect(code).toBe(0);
    return Number(stdout);
  };
  const hook = ['-r', 'tracewright/register'];
  expect(await bytes()).toBe(0);
  expect(await bytes(...hook)).toBe(0);
  expect(readdirSync(cache)).toEqual([USUAL]);
  expect(await bytes(...hook)).toBe(0);
  expect(await bytes('--stack-size=900', ...hook)).toBe(0);
});

it('there are at most 8', async () => {
  const { directory, cache } = project();
  mkdirSync(cache);
  for (let i = 0; i < 8; i++) writeFileSync(join(cache, `v20.${i}`), '');
  expect(await start(directory)).toEqual(COMPILED);
  expect(readdirSync(cache)).toHaveLength(8);
});

it('changed code is compiled, however long it is', async () => {
  const { directory, dist } = project();
  await start(directory);
  const path = join(dist, 'node', 'start.js');
  const { mtimeMs } = lstatSync(path);
  const text = readFileSync(path, 'utf8');
  const changed = text.replace('is an unknown variable', 'is a variable unknown!');
  expect(changed).toHaveLength(text.length);
  writeFileSync(path, changed);
  utimesSync(path, mtimeMs / 1000 + 2, mtimeMs / 1000 + 2);
  expect(await start(directory)).toEqual(COMPILED);
  expect(await start(directory)).toEqual(SAVED);
});

it.each([
  [
    'is cut off',
    (path: string) => {
      truncateSync(path, 100_000);
    },
  ],
  [
    'is empty',
    (path: string) => {
      truncateSync(path, 0);
    },
  ],
  [
    'is of nothing that V8 knows',
    (path: string) => {
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill(0, 512, 576));
    },
  ],
] as const)('a file that %s is replaced', async (_, damage) => {
  const { directory, cache } = project();
  await start(directory);
  damage(join(cache, USUAL));
  expect((await start(directory))['node/start']).toBe(false);
  expect(await start(directory)).toEqual(SAVED);
});

it.each([
  [
    'that a group may write',
    (path: string) => {
      chmodSync(path, 0o664);
    },
  ],
  [
    'that all may write',
    (path: string) => {
      chmodSync(path, 0o646);
    },
  ],
  [
    'behind a link',
    (path: string) => {
      renameSync(path, `${path}.real`);
      symlinkSync(`${path}.real`, path);
    },
  ],
] as const)('a file %s is not used', async (_, change) => {
  const { directory, cache } = project();
  await start(directory);
  change(join(cache, USUAL));
  expect(await start(directory)).toEqual(COMPILED);
});

it.runIf(isRoot)('a file of another user is not used', async () => {
  const { directory, cache } = project();
  await start(directory);
  chownSync(join(cache, USUAL), 12345, 12345);
  expect(await start(directory)).toEqual(COMPILED);
});

it.runIf(isRoot)('a file of the owner of the code is used', async () => {
  const { directory, dist, cache } = project();
  await start(directory);
  for (const file of FILES) chownSync(join(dist, `${file}.js`), 12345, 12345);
  chownSync(join(cache, USUAL), 12345, 12345);
  expect(await start(directory)).toEqual(SAVED);
});

it('a package that cannot be written is traced as ever', async () => {
  const { directory, cache } = project();
  // Root may write into any directory, but not through a file.
  writeFileSync(cache, '');
  expect(await start(directory)).toEqual(COMPILED);
  expect(await start(directory)).toEqual(COMPILED);
});

it.each([{ TRACEWRIGHT_CODE_CACHE: 'off' }, { NODE_DISABLE_COMPILE_CACHE: '1' }])(
  'nothing is saved with %o',
  async (env) => {
    const { directory, cache } = project();
    expect(await start(directory, { env })).toEqual({});
    expect(existsSync(cache)).toBe(false);
  },
);

it('a process that is not traced saves nothing', async () => {
  const directory = newProject({ 'main.cjs': '' });
  installCopy(directory, { withoutBinary: true });
  const { code, stderr } = await runNode(directory, ['-r', 'tracewright/register', 'main.cjs']);
  expect({ code, off: stderr.includes('TRACEWRIGHT_OFF') }).toEqual({ code: 0, off: true });
  expect(existsSync(join(directory, 'node_modules', 'tracewright', 'dist', 'code-cache'))).toBe(
    false,
  );
});
