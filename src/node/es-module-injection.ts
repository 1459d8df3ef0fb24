import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { WITH_ES_MODULES } from '../libraries/injected-channels.js';
import type { InjectedName } from '../libraries/watched-channels.js';
import { programFormat } from './program-format.js';
import { reasonOf, warn } from './warning.js';

/** Of `@apm-js-collab/code-transformer`: changes the text of a file of a library. */
interface Transformer {
  transform(source: string, type: 'esm'): { code: string };
  free(): void;
}

/** What knows the files that are changed. */
export interface Instrumentator {
  getTransformer(name: string, version: string, path: string): Transformer | undefined;
}

/** A module as Node is about to compile it. */
interface Loaded {
  format?: string | null | undefined;
  source?: string | ArrayBuffer | Uint8Array | null | undefined;
}

interface SynchronousHooks {
  registerHooks?: (hooks: {
    load: (url: string, context: object, next: (url: string, context: object) => Loaded) => Loaded;
  }) => void;
}

/** Changes ES modules of libraries as Node loads them. */
export class EsModules {
  readonly #names: readonly string[];
  readonly #instrumentator: Instrumentator;
  readonly #warn: (message: string) => void;

  constructor(
    names: readonly string[],
    instrumentator: Instrumentator,
    warn: (message: string) => void,
  ) {
    this.#names = names;
    this.#instrumentator = instrumentator;
    this.#warn = warn;
  }

  /** The module as it is to be compiled: as it is, with a warning, if it cannot be changed. */
  changed(url: string, loaded: Loaded): Loaded {
    if (loaded.format !== 'module' || !url.startsWith('file:')) return loaded;
    for (const name of this.#names) {
      const directory = `/node_modules/${name}/`;
      const end = url.lastIndexOf(directory) + directory.length;
      if (end < directory.length) continue;
      try {
        return this.#change(name, url.slice(0, end), url.slice(end), loaded);
      } catch (error) {
        this.#warn(`${name} is not traced: ${reasonOf(error)}`);
      }
    }
    return loaded;
  }

  #change(name: string, place: string, path: string, loaded: Loaded): Loaded {
    const manifest = readFileSync(new URL('package.json', place), 'utf8');
    const { version = '' } = JSON.parse(manifest) as { version?: string };
    const transformer = this.#instrumentator.getTransformer(name, version, path);
    if (transformer === undefined) return loaded;
    try {
      const { source } = loaded;
      const text = typeof source === 'string' ? source : Buffer.from(source as Buffer).toString();
      return { ...loaded, source: transformer.transform(text, 'esm').code };
    } finally {
      transformer.free();
    }
  }
}

/** Whether the program, or the directory that it runs in, has a package. */
function isInstalled(name: string): boolean {
  const places = [dirname(process.argv[1] ?? ''), process.cwd()];
  return places.some((place) => {
    for (let each = place; ; each = dirname(each)) {
      if (existsSync(join(each, 'node_modules', name))) return true;
      if (each === dirname(each)) return false;
    }
  });
}

/** Runs in the thread of Node's module hooks, which old Nodes have. */
const LOADER = [
  "import { createRequire } from 'node:module';",
  'let modules;',
  'export function initialize({ file, names, warnings }) {',
  '  const warn = (text) => warnings.postMessage(text);',
  '  modules = createRequire(file)(file).node_inject_channels.esModulesOf(names, warn);',
  '}',
  'export async function load(url, context, next) {',
  '  return modules.changed(url, await next(url, context));',
  '}',
].join('\n');

/**
 * Puts channels into ES modules that this thread loads, where the program has such a library: hooks make each
 * module that is loaded a little slower.
 */
export function injectEsModules(
  names: readonly InjectedName[],
  instrumentator: Instrumentator,
): void {
  const wanted = names.filter((name) => WITH_ES_MODULES.has(name) && isInstalled(name));
  if (wanted.length === 0) return;
  const { registerHooks } = nodeModule as SynchronousHooks;
  if (registerHooks !== undefined) {
    const modules = new EsModules(wanted, instrumentator, warn);
    registerHooks({ load: (url, context, next) => modules.changed(url, next(url, context)) });
    return;
  }
  // These run in a thread of their own, whose start takes long: only where the program needs it.
  if (programFormat() === 'commonjs' || typeof __filename !== 'string') return;
  const { port1: here, port2: warnings } = new MessageChannel();
  here.on('message', warn);
  here.unref();
  nodeModule.register(`data:text/javascript,${encodeURIComponent(LOADER)}`, {
    data: { file: __filename, names: wanted, warnings },
    transferList: [warnings],
  });
}
