import { lstatSync } from 'node:fs';
import { switchOf } from '../../core/options/switch.js';
import type { ModuleCode, StartFiles } from './cache-layout.js';
import type { CommonJsLoader } from './common-js-loader.js';
import { savedModules } from './saved-modules.js';

/** Files of dist/ that the hook loads before the program, each after those that it requires. */
declare const TRACEWRIGHT_START_FILES: readonly string[];
/** A hash of these files as they were built. */
declare const TRACEWRIGHT_START_HASH: string;

/** What the last of the files exports: see package-layout.mjs. */
interface StartFile {
  node_begin_tracing: typeof import('../begin-tracing.js');
}

interface LoadedStart {
  start: StartFile['node_begin_tracing'];
  /** Saves what V8 has compiled, unless an earlier process has. */
  save: (() => void) | undefined;
}

/** @returns undefined: one of them is a link. */
function startFilesIn(dist: string): StartFiles | undefined {
  const paths = TRACEWRIGHT_START_FILES.map((file) => `${dist}/${file}.js`);
  const all = paths.map((path) => lstatSync(path));
  if (!all.every((stats) => stats.isFile())) return undefined;
  const states = all.map(({ mtimeMs, size }) => `${size}@${Math.trunc(mtimeMs / 1000)}`);
  return {
    paths,
    identity: `${TRACEWRIGHT_START_HASH} ${states.join(' ')}`,
    owner: all[0]!.uid,
    saved: `${dist}/code-cache/${process.version}-${process.arch}`,
  };
}

/** What this is built into, below the directory of the package's files. */
const OWN_FILE = '/node/hook.js';

/** The folder above that of this file, if Node has loaded it as a file of the package. A bundle is not. */
function directoryOfPackage(loader: CommonJsLoader): string | undefined {
  if (typeof __filename !== 'string' || !__filename.endsWith(OWN_FILE)) return undefined;
  if (loader._cache[__filename] === undefined) return undefined;
  return __filename.slice(0, -OWN_FILE.length);
}

/** Runs files as `require` would: each once, when it is first required. Returns what the last one exports. */
function run(loader: CommonJsLoader, dist: string, modules: readonly ModuleCode[]): object {
  const load = (i: number): object => {
    const file = TRACEWRIGHT_START_FILES[i]!;
    const path = `${dist}/${file}.js`;
    const known = loader._cache[path];
    if (known !== undefined) return known.exports;
    const module = new loader(path);
    module.filename = path;
    loader._cache[path] = module;
    const require = (request: string): unknown => {
      const other = request.startsWith('../')
        ? request.slice('../'.length)
        : `${file.slice(0, file.indexOf('/'))}${request.slice(1)}`;
      const index = TRACEWRIGHT_START_FILES.indexOf(other.slice(0, -'.js'.length));
      if (index >= 0) return load(index);
      // Node would look for it again.
      return `/${other}` === OWN_FILE
        ? loader._cache[__filename]!.exports
        : module.require(request);
    };
    try {
      modules[i]!.call(
        module.exports,
        module.exports,
        require,
        module,
        path,
        path.slice(0, path.lastIndexOf('/')),
      );
    } catch (error) {
      Reflect.deleteProperty(loader._cache, path);
      throw error;
    }
    module.loaded = true;
    return module.exports;
  };
  return load(modules.length - 1);
}

/**
 * Loads the files that the hook needs before the program as `require` would, but faster: V8 goes on
 * with what an earlier process has compiled and saved.
 *
 * @returns undefined: it has not been loaded.
 */
export function loadCompiledStart(): LoadedStart | undefined {
  const { env } = process;
  // Node's own variables. Its documentation says that coverage is less exact with saved code.
  if (env['NODE_DISABLE_COMPILE_CACHE'] || env['NODE_V8_COVERAGE']) return undefined;
  if (switchOf(env['TRACEWRIGHT_CODE_CACHE'] ?? '') === false) return undefined;
  // On Windows a file does not say who may write it. Other runtimes have other loaders.
  const { bun, deno } = process.versions;
  if (process.geteuid === undefined || bun !== undefined || deno !== undefined) return undefined;
  const loader = process.getBuiltinModule('node:module') as unknown as CommonJsLoader;
  const dist = directoryOfPackage(loader);
  if (dist === undefined) return undefined;
  let modules: readonly ModuleCode[];
  let save: (() => void) | undefined;
  try {
    const files = startFilesIn(dist);
    if (files === undefined) return undefined;
    const saved = savedModules(files);
    if (typeof saved === 'string') {
      const { compileStart } = require('./first-start.js') as typeof import('./first-start.js');
      ({ modules, save } = compileStart(files, saved === 'refused'));
    } else {
      modules = saved;
    }
  } catch {
    // `require` loads the files, or reports what is wrong with them.
    return undefined;
  }
  const { node_begin_tracing: start } = run(loader, dist, modules) as StartFile;
  return { start, save };
}
