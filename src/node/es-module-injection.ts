import { realpathSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { programPath } from '../core/program-path.js';
import { entryOf } from '../libraries/table.js';
import type { InjectedName } from '../libraries/table.js';
import { changedFile, seenLibraries } from './changed-files.js';
import { programDependencies } from './otel/program-dependencies.js';
import { programFormat } from './program-format.js';
import { onFirstMessage } from './requests/channels.js';
import { warn } from './warning.js';

/** A module as Node is about to compile it. */
interface Loaded {
  format?: string | null | undefined;
  source?: string | ArrayBuffer | Uint8Array | null | undefined;
}

type Load = (
  url: string,
  context: object,
  next: (url: string, context: object) => Loaded,
) => Loaded;

interface SynchronousHooks {
  registerHooks?: (hooks: { load: Load }) => void;
}

/** Functions that Node's own loader of ES modules looks up and calls for each module. */
interface ReadingFunctions {
  openSync: (path: unknown, ...further: unknown[]) => number;
  promises: { readFile: (path: unknown, ...further: unknown[]) => Promise<unknown> };
}

const NEEDED = 'this needs Node 22.15, 23.5 or later';

/** The URL of a module that does nothing. A bundle has none. */
function emptyModule(): string {
  return typeof __dirname === 'string' ? pathToFileURL(join(__dirname, 'empty.mjs')).href : '';
}

function programUrl(): string | undefined {
  try {
    return pathToFileURL(realpathSync(programPath() ?? '')).href;
  } catch {
    return undefined;
  }
}

/**
 * A loader in a thread of its own, such as that of tsx, reads modules there.
 *
 * @param hasRead whether a module has been read in this thread.
 */
function warnIfHidden(names: readonly InjectedName[], hasRead: (url: string) => boolean): void {
  onFirstMessage(['http.server.request.start'], () => {
    const dependencies = programDependencies();
    const missed = names
      .filter((name) => !seenLibraries.has(name))
      .filter((name) => entryOf(name).packages!.some((each) => dependencies.includes(each)));
    if (missed.length === 0) return;
    const warnOfThem = (): void => {
      warn(
        `ES modules of ${missed.join(', ')} are not traced: a loader reads them in a thread of its own; ${NEEDED}`,
      );
    };
    const program = programUrl();
    if (programFormat() !== 'commonjs') {
      if (program !== undefined && !hasRead(program)) warnOfThem();
      return;
    }
    // It is no ES module, so another one has to be read.
    const empty = emptyModule();
    import(empty).then(
      () => {
        if (!hasRead(empty)) warnOfThem();
      },
      () => undefined,
    );
  });
}

/**
 * Nodes without synchronous hooks read an ES module by `fs.promises.readFile`, with its URL alone. What `require` reads
 * goes by a function that nobody can replace, but that calls `fs.openSync`: there is a warning.
 */
function changeReadModules(names: readonly InjectedName[], files: RegExp): void {
  const fs = process.getBuiltinModule('node:fs') as unknown as ReadingFunctions;
  const { openSync } = fs;
  const { readFile } = fs.promises;
  const watched = [programUrl(), emptyModule()];
  const read = new Set<string>();
  let hasWarned = false;
  const fileOf = (path: unknown): RegExpExecArray | null =>
    path instanceof URL && path.protocol === 'file:' ? files.exec(fileURLToPath(path)) : null;

  fs.promises.readFile = async function (path, ...further) {
    const content = await readFile.call(this, path, ...further);
    if (!(path instanceof URL) || further.length > 0) return content;
    if (watched.includes(path.href)) read.add(path.href);
    const found = fileOf(path);
    if (found === null) return content;
    return Buffer.from(changedFile(names, String(content), found));
  };
  fs.openSync = function (path, ...further) {
    const found = hasWarned ? null : fileOf(path);
    if (found !== null) {
      hasWarned = true;
      warn(
        `ES modules of ${found[2]} are not traced if require() loads them; import it, or ${NEEDED}`,
      );
    }
    return openSync.call(this, path, ...further);
  };
  warnIfHidden(names, (url) => read.has(url));
}

/**
 * Puts channels into ES modules that this thread loads. Hooks in a thread of their own (`module.register`) would take
 * 64 to 80 ms to start.
 *
 * @param names libraries that the program may have as ES modules.
 * @param files finds the files of their packages.
 */
export function injectEsModules(names: readonly InjectedName[], files: RegExp): void {
  const { registerHooks } = nodeModule as SynchronousHooks;
  if (registerHooks === undefined) {
    changeReadModules(names, files);
    return;
  }
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (loaded.format !== 'module' || !url.startsWith('file:')) return loaded;
      const found = files.exec(fileURLToPath(url));
      if (found === null) return loaded;
      const { source } = loaded;
      const text = typeof source === 'string' ? source : Buffer.from(source as Buffer).toString();
      return { ...loaded, source: changedFile(names, text, found) };
    },
  });
}
