/**
 * Traces a Node service from outside: `node --require tracewright/register app.js`, or `--import`, or either
 * in `NODE_OPTIONS`. Settings come from the environment; settings.ts lists them.
 *
 * @module register
 */

type BeginHook = typeof import('./begin-hook.js');

/** The undocumented parts of `node:module` that are used. */
interface CommonJsLoader {
  new (path: string): CommonJsModule;
  _cache: Record<string, CommonJsModule | undefined>;
}

interface CommonJsModule {
  exports: object;
  filename: string;
  loaded: boolean;
  _compile?(text: string, path: string): void;
}

/** Exports of the file of begin-hook.ts: see package-layout.mjs. */
interface HookFile {
  node_begin_hook: BeginHook;
}

/** The versions that `engines` of package.json names. */
const OLDEST_NODE = '20.19 or later, or 22.12 or later';

/** Where this lies in the package, and the file that has the rest. */
const OWN_FILE = '/register.js';
const HOOK_FILE = '/hook.js';

/**
 * Loads the rest as `require` would, without what finds a module by its name: Node looks at each character of a path
 * several times, enough for V8 to load its compiler, which takes a start 1 ms and 2.5 MB. Here the rest cannot be:
 * with `--import` Node looks for exports in this file, which takes Node 22 more than 10 ms for 9 kB.
 *
 * @returns undefined: this is no file of the package, or no Node.
 */
function loadHook(): BeginHook | undefined {
  if (typeof __filename !== 'string' || !__filename.endsWith(OWN_FILE)) return undefined;
  const loader = process.getBuiltinModule('node:module') as unknown as CommonJsLoader;
  if (loader._cache[__filename] === undefined) return undefined;
  const path = __filename.slice(0, -OWN_FILE.length) + HOOK_FILE;
  if (loader._cache[path] !== undefined) return undefined;
  const module = new loader(path);
  if (module._compile === undefined) return undefined;
  module.filename = path;
  loader._cache[path] = module;
  try {
    const { readFileSync } = process.getBuiltinModule('node:fs');
    module._compile(readFileSync(path, 'latin1'), path);
  } catch {
    Reflect.deleteProperty(loader._cache, path);
    return undefined;
  }
  module.loaded = true;
  return (module.exports as HookFile).node_begin_hook;
}

/** Says it once, and not in each thread. */
function warnOfOldNode(): void {
  const { isMainThread } = require('node:worker_threads') as { isMainThread: boolean };
  if (!isMainThread) return;
  const message = `this process is not traced: Node ${process.versions.node} is too old for Tracewright; it needs ${OLDEST_NODE}`;
  process.emitWarning(message, 'TracewrightWarning');
}

// Without a message of its own, the service would end with a TypeError.
if (typeof (process as Partial<NodeJS.Process>).getBuiltinModule === 'function') {
  const { beginHook } =
    loadHook() ?? (require('./begin-hook.js') as typeof import('./begin-hook.js'));
  beginHook();
} else {
  warnOfOldNode();
}
