import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TracewrightError } from './errors.js';

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

/** Where the addon may lie below a directory: built in a checkout, or prebuilt for the platform. */
function placesIn(directory: string): string[] {
  const { platform, arch } = process;
  const prebuilt = join(directory, 'prebuilds', `${platform}-${arch}`);
  const libraries = ['tracewright.glibc.node', 'tracewright.musl.node'];
  if (existsSync('/etc/alpine-release')) libraries.reverse();
  return [
    join(directory, 'build', 'Release', 'tracewright.node'),
    ...(platform === 'linux' ? libraries : ['tracewright.node']).map((name) =>
      join(prebuilt, name),
    ),
  ];
}

/**
 * Loads the native addon. No bundler can follow this, on purpose: they fail on a `.node` file that
 * they have no loader for. So a bundle finds `prebuilds/` next to it, or in the installed package.
 *
 * @throws TracewrightError `ERR_SYSTEM` when there is no binary for this platform, or none that loads.
 */
export function loadAddon(): unknown {
  // Both dist/ and the file of the package that this lies in are below the package's directory.
  const code = directoryOfCode();
  let cause: unknown;
  const attempt = (directory: string | undefined): unknown => {
    for (const path of directory === undefined ? [] : placesIn(directory)) {
      if (!existsSync(path)) continue;
      try {
        // Required by Node itself: all copies of this code in a thread get the same object.
        return createRequire(path)(path);
      } catch (error) {
        cause ??= error;
      }
    }
    return undefined;
  };
  const chosen = process.env['TRACEWRIGHT_PREBUILD'];
  const addon =
    chosen === undefined || chosen === ''
      ? (attempt(join(code, '..', '..')) ?? attempt(code) ?? attempt(installedPackage()))
      : attempt(chosen);
  if (addon !== undefined) return addon;
  const binary = `binary for ${process.platform}-${process.arch}`;
  const reason = cause instanceof Error ? `no ${binary} loads: ${cause.message}` : `no ${binary}`;
  throw new TracewrightError('ERR_SYSTEM', reason, { field: 'addon', value: code, cause });
}
