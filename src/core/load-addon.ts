import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory of this code. A bundler may have put it into an ES module, which has no `__dirname`. */
function directoryOfCode(): string {
  if (typeof __dirname === 'string') return __dirname;
  const [, caller = ''] = new Error().stack?.split('\n') ?? [];
  const file = /(?:\(|at )(file:\/\/.+|\/.+):\d+:\d+\)?$/.exec(caller)?.[1] ?? process.cwd();
  return dirname(file.startsWith('file:') ? fileURLToPath(file) : file);
}

/**
 * The package's directory as the program finds it, when this code lies in a bundle. Never by the
 * working directory: anyone may have put a package there.
 */
function installedPackage(): string | undefined {
  const program = process.argv[1];
  if (program === undefined) return undefined;
  try {
    return dirname(createRequire(program).resolve('tracewright/package.json'));
  } catch {
    return undefined;
  }
}

/**
 * The directory with the binaries of all platforms, of a package that is not bundled. What traces the
 * files of a program (@vercel/nft, Turbopack, ncc) understands these lines as they are, and copies the
 * directory. ncc also replaces the expression by the place of its copy.
 */
function prebuildsOfPackage(): string | undefined {
  if (typeof __dirname !== 'string') return undefined;
  const path = require('node:path') as typeof import('node:path');
  return path.join(__dirname, '..', '..', 'prebuilds');
}

/** The names of the binary for this platform, below `prebuilds/`. */
function prebuiltNames(): string[] {
  const { platform, arch } = process;
  const libraries = ['tracewright.glibc.node', 'tracewright.musl.node'];
  if (existsSync('/etc/alpine-release')) libraries.reverse();
  const names = platform === 'linux' ? libraries : ['tracewright.node'];
  return names.map((name) => join(`${platform}-${arch}`, name));
}

/** Where the addon may lie below a directory: built in a checkout, or prebuilt for the platform. */
function pathsIn(directory: string): string[] {
  return [
    join(directory, 'build', 'Release', 'tracewright.node'),
    ...prebuiltNames().map((name) => join(directory, 'prebuilds', name)),
  ];
}

/** Every path of the addon that may be, in the order in which they are tried. */
function* paths(): Generator<string> {
  const chosen = process.env['TRACEWRIGHT_PREBUILD'];
  if (chosen !== undefined && chosen !== '') {
    yield* pathsIn(chosen);
    return;
  }
  // Both dist/ and the file of the package that this lies in are below the package's directory.
  const code = directoryOfCode();
  yield `${dirname(dirname(code))}/build/Release/tracewright.node`;
  const prebuilds = prebuildsOfPackage() ?? join(code, '..', '..', 'prebuilds');
  for (const name of prebuiltNames()) yield join(prebuilds, name);
  yield* pathsIn(code);
  const installed = installedPackage();
  if (installed !== undefined) yield* pathsIn(installed);
}

/**
 * Not by `require`, which looks for packages around the file for longer than it takes to load it. The
 * copies of this code in a thread share what the first has loaded: see process-state.ts.
 */
function load(path: string): object {
  const module = { exports: {} };
  process.dlopen(module, path);
  return module.exports;
}

/** Why an addon does not fit this code; undefined: it fits. */
type FindMismatch = (addon: object) => string | undefined;

/** The core that other threads of the process use, which may be that of another copy of the package. */
function joinProcess(
  addon: object,
  mismatchOf: FindMismatch,
): { addon: object } | { absence: string } {
  const used = (addon as { coreInUse(): string }).coreInUse();
  if (used === '') return { addon };
  const core = load(used);
  const mismatch = mismatchOf(core);
  if (mismatch === undefined) return { addon: core };
  return { absence: `the process uses ${used} already, which is of another version: ${mismatch}` };
}

/**
 * Loads the native addon. Bundlers fail on a `.node` file that they have no loader for, so none of them
 * sees it required. A bundle finds `prebuilds/` next to it, or in the installed package.
 *
 * @returns the addon, or why there is none.
 */
export function loadAddon(mismatchOf: FindMismatch): { addon: object } | { absence: string } {
  let reason: string | undefined;
  for (const path of paths()) {
    if (!existsSync(path)) continue;
    let fault: string | undefined;
    try {
      const addon = load(path);
      const mismatch = mismatchOf(addon);
      if (mismatch === undefined) return joinProcess(addon, mismatchOf);
      fault = `${path} is of another version of tracewright: ${mismatch}`;
    } catch (error) {
      fault = (error as Error).message;
    }
    // ncc reads no file that contains `??=`.
    if (reason === undefined) reason = fault;
  }
  const binary = `binary for ${process.platform}-${process.arch}`;
  return { absence: reason === undefined ? `no ${binary}` : `no ${binary} loads: ${reason}` };
}
