import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { compileFunction } from 'node:vm';
import { switchOf } from '../../core/options/switch.js';
import { alignedBytes, HEAD_BYTES } from './cache-layout.js';
import type { CompiledStart, ModuleCode } from './cache-layout.js';

/** Files of dist/ that the hook loads before the program, each after those that it requires. */
declare const TRACEWRIGHT_START_FILES: readonly string[];
/** A hash of these files as they were built. */
declare const TRACEWRIGHT_START_HASH: string;

/** What is used of `node:module` beyond its declared types. */
interface Loader {
  new (path: string): CommonJsModule;
  _cache: Record<string, CommonJsModule | undefined>;
}
interface CommonJsModule {
  exports: object;
  filename: string;
  loaded: boolean;
  require(request: string): unknown;
}

/** What the last of the files exports: see package-layout.mjs. */
interface StartFile {
  node_begin_tracing: typeof import('../begin-tracing.js');
}

interface LoadedStart {
  start: StartFile['node_begin_tracing'];
  /** Saves what V8 has compiled, unless an earlier process has. */
  save: () => void;
}

const SAVE_AFTER_MS = 1000;
const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname'];
/** Not a regular file, or one that others may write. */
const FOREIGN = constants.S_IFMT | 0o022;

interface OpenFile {
  bytes: Buffer;
  stats: Stats;
}

function openFile(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
}

function readInto(bytes: Buffer, fd: number, at: number, size: number): void {
  if (readSync(fd, bytes, at, size, 0) !== size) throw new Error('a file has changed');
}

function readWhole(path: string): OpenFile {
  const fd = openFile(path);
  try {
    const stats = fstatSync(fd);
    const bytes = Buffer.allocUnsafeSlow(stats.size);
    readInto(bytes, fd, 0, stats.size);
    return { bytes, stats };
  } finally {
    closeSync(fd);
  }
}

interface Source {
  path: string;
  code: string;
  stats: Stats;
}

/**
 * V8 keeps a text of more bytes apart. Others lie where its first garbage collection finds them, which comes after
 * 1 MB and takes a start 5 ms.
 */
const KEPT_APART = 2 ** 17;

/** Reads the files into one text. Each has its part of it, which takes no memory. */
function readSources(paths: readonly string[]): Source[] {
  const fds: number[] = [];
  try {
    const all = paths.map((path) => {
      const fd = openFile(path);
      fds.push(fd);
      return fstatSync(fd);
    });
    const length = all.reduce((sum, { size }) => sum + size, 0);
    const bytes = Buffer.alloc(Math.max(length, KEPT_APART + 1), ' ');
    let end = 0;
    const ends = all.map(({ size }, i) => {
      readInto(bytes, fds[i]!, end, size);
      return (end += size);
    });
    // The build writes ASCII.
    const text = bytes.toString('latin1');
    return paths.map((path, i) => ({
      path,
      code: text.slice(i === 0 ? 0 : ends[i - 1], ends[i]),
      stats: all[i]!,
    }));
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}

/**
 * Reads what an earlier process has saved. V8 trusts it as it trusts code, so it is used only if it
 * belongs to the owner of the code, to root or to this user, and nobody else may write it.
 *
 * @returns a part for each file; undefined: nothing was saved of these very files.
 */
function readParts(path: string, identity: string, codeOwner: number): Buffer[] | undefined {
  let file: OpenFile;
  try {
    file = readWhole(path);
  } catch {
    return undefined;
  }
  const { bytes } = file;
  const { mode, uid } = file.stats;
  if ((mode & FOREIGN) !== constants.S_IFREG) return undefined;
  if (uid !== codeOwner && uid !== 0 && uid !== process.geteuid?.()) return undefined;
  const [owner, lengths = ''] = bytes.toString('latin1', 0, HEAD_BYTES).split('\n');
  if (owner !== identity) return undefined;
  let end = HEAD_BYTES;
  const parts = lengths.split(' ').map((text) => {
    const from = end;
    end += alignedBytes(Number(text));
    return bytes.subarray(from, from + Number(text));
  });
  return end === bytes.length ? parts : undefined;
}

/**
 * By `compileFunction`, not as a `vm.Script`: since Node 24 that is an object of V8's C++ heap, and one such object is
 * enough for V8 to collect a program at rest, and to drop its optimized code.
 *
 * @returns undefined: V8 refuses the saved parts.
 */
function compileAll(
  sources: readonly Source[],
  parts: readonly Buffer[] | undefined,
): ModuleCode[] | undefined {
  const modules: ModuleCode[] = [];
  for (const { path, code } of sources) {
    const cachedData = parts?.[modules.length];
    const made = compileFunction(code, PARAMETERS, {
      filename: path,
      ...(cachedData === undefined ? {} : { cachedData }),
    });
    if (made.cachedDataRejected === true) return undefined;
    modules.push(made as unknown as ModuleCode);
  }
  return modules;
}

/** A name for the flags of V8. The head of compiled code contains a number of them. */
function flagsOfV8(): string {
  return compileFunction('', [], { produceCachedData: true }).cachedData!.toString('hex', 0, 24);
}

/** Compiles the files, with what an earlier process has saved if that is there: `isSaved`. */
function compile(dist: string): CompiledStart & { isSaved: boolean } {
  const sources = readSources(TRACEWRIGHT_START_FILES.map((file) => `${dist}/${file}.js`));
  const states = sources.map(
    ({ stats: { mtimeMs, size } }) => `${size}@${Math.trunc(mtimeMs / 1000)}`,
  );
  const identity = `${TRACEWRIGHT_START_HASH} ${states.join(' ')}`;
  const { uid } = sources[0]!.stats;
  let path = `${dist}/code-cache/${process.version}-${process.arch}`;
  let parts = readParts(path, identity, uid);
  let modules = compileAll(sources, parts);
  if (modules === undefined) {
    // Saved by a process with other flags of V8, such as the size of the heap on Node 20.
    path += `-${flagsOfV8()}`;
    parts = readParts(path, identity, uid);
    modules = compileAll(sources, parts);
  }
  const isSaved = parts !== undefined && modules !== undefined;
  return { path, identity, modules: modules ?? compileAll(sources, undefined)!, isSaved };
}

/** Saves what V8 has compiled by the time that the program has begun, or ends. */
function saveLater(compiled: CompiledStart): void {
  const save = (): void => {
    process.off('exit', save);
    clearTimeout(timer);
    const { saveCompiled } = require('./save-compiled.js') as typeof import('./save-compiled.js');
    saveCompiled(compiled);
  };
  const timer = setTimeout(save, SAVE_AFTER_MS).unref();
  process.on('exit', save);
}

/** The folder above that of this file, if Node has loaded it as a file of the package. A bundle is not. */
function directoryOfPackage(loader: Loader): string | undefined {
  if (typeof __filename !== 'string') return undefined;
  const exports = loader._cache[__filename]?.exports ?? {};
  if (!Object.hasOwn(exports, 'node_compiled_compiled_start')) return undefined;
  return __dirname.slice(0, __dirname.lastIndexOf('/'));
}

/** Runs files as `require` would: each once, when it is first required. Returns what the last one exports. */
function run(loader: Loader, dist: string, { modules }: CompiledStart): object {
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
      return index < 0 ? module.require(request) : load(index);
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
  const loader = process.getBuiltinModule('node:module') as unknown as Loader;
  const dist = directoryOfPackage(loader);
  if (dist === undefined) return undefined;
  let compiled: ReturnType<typeof compile>;
  try {
    compiled = compile(dist);
  } catch {
    // `require` loads the files, or reports what is wrong with them.
    return undefined;
  }
  const { node_begin_tracing: start } = run(loader, dist, compiled) as StartFile;
  return {
    start,
    save: () => {
      if (!compiled.isSaved) saveLater(compiled);
    },
  };
}
