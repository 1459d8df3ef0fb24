import type * as Api from '@opentelemetry/api';
import type { Context } from '@opentelemetry/api';
import { TracewrightError } from '../core/errors.js';

/** A copy of `@opentelemetry/api`. */
export type ApiCopy = typeof Api;

const NAME = '@opentelemetry/api';
/**
 * Files that are a whole copy: the package's own, to version 1.9 and from 1.10 on, and the one that Next.js has
 * compiled.
 */
const COPY =
  /[\\/]@opentelemetry[\\/]api[\\/](?:(?:build[\\/]src[\\/])?index\.js|dist[\\/]index\.cjs)$/;

function isApi(value: unknown): value is ApiCopy {
  if (typeof value !== 'object' || value === null) return false;
  const { trace, context, propagation } = value as Partial<ApiCopy>;
  return (
    typeof trace?.setGlobalTracerProvider === 'function' &&
    typeof context?.setGlobalContextManager === 'function' &&
    typeof propagation?.setGlobalPropagator === 'function'
  );
}

/** Where the program's own modules are resolved from, the first one first. */
function programPaths(): string[] {
  const [, script] = process.argv;
  const path = process.getBuiltinModule('node:path');
  const directory = path.join(process.cwd(), 'x');
  if (script === undefined) return [directory];
  try {
    // npm starts a program by a link.
    return [process.getBuiltinModule('node:fs').realpathSync(script), script, directory];
  } catch {
    return [script, directory];
  }
}

/** The copy for `import` of a package that has loaded the one for `require`: it may be loaded too. */
function importedCopy(require: NodeJS.Require, file: string): unknown {
  if (!file.endsWith('.cjs')) return undefined;
  try {
    return require(file.replace(/cjs$/, 'mjs'));
  } catch {
    // It has no such file.
    return undefined;
  }
}

/**
 * Loads the API as the program does. From version 1.10 on it has a copy for `require` and one for `import`. A program
 * that has not loaded the first one by now uses the other.
 */
function loadApi(require: NodeJS.Require): unknown {
  const file = require.resolve(NAME);
  const isLoaded = require.cache[file] !== undefined;
  return (isLoaded ? undefined : importedCopy(require, file)) ?? require(file);
}

/** The copy that the program gets when it imports the API; undefined: it has none. */
export function programsApi(): ApiCopy | undefined {
  const { createRequire } = process.getBuiltinModule('node:module');
  for (const path of programPaths()) {
    try {
      const copy = loadApi(createRequire(path));
      if (isApi(copy)) return copy;
    } catch {
      // Not from there.
    }
  }
  return undefined;
}

/** A copy that has been loaded. */
export interface LoadedCopy {
  readonly api: ApiCopy;
  /** Such as `1.9.0`; undefined: it does not say. */
  readonly version: string | undefined;
}

/** Every copy that `require` has loaded, and the one for `import` of the same package. */
export function loadedCopies(): LoadedCopy[] {
  const { createRequire } = process.getBuiltinModule('node:module');
  const require = createRequire(programPaths().at(-1)!);
  const { cache } = require;
  const found: LoadedCopy[] = [];
  for (const file of Object.keys(cache)) {
    if (!COPY.test(file)) continue;
    const copy: unknown = cache[file]?.exports;
    if (!isApi(copy)) continue;
    const { VERSION } = (cache[file.replace(/index(?=\.c?js$)/, 'version')]?.exports ?? {}) as {
      VERSION?: unknown;
    };
    const version = typeof VERSION === 'string' ? VERSION : undefined;
    found.push({ api: copy, version });
    const imported = importedCopy(require, file);
    if (isApi(imported)) found.push({ api: imported, version });
  }
  return found;
}

/** The context of the program's API in which nothing is active; undefined: it has none. */
export function programsRoot(): Context | undefined {
  return (programsApi() ?? loadedCopies()[0]?.api)?.ROOT_CONTEXT;
}

/** @throws TracewrightError that says what to install. */
export function missingApi(): TracewrightError {
  const limit = 'npm install @opentelemetry/api, or register({ api })';
  return new TracewrightError('ERR_DEPENDENCY', `${NAME} cannot be found: ${limit}`, { limit });
}
