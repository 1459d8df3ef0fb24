import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { injectedPackages } from '../libraries/watched-channels.js';
import type { InjectedName } from '../libraries/watched-channels.js';
import { changedFile } from './changed-files.js';
import { programDependencies } from './otel/program-dependencies.js';
import { programFormat } from './program-format.js';
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

/**
 * Puts channels into ES modules that this thread loads. Nodes without synchronous hooks would need a thread, which
 * takes 64 to 80 ms to start: there is a warning instead.
 *
 * @param names libraries that the program may have as ES modules.
 * @param files finds the files of their packages.
 */
export function injectEsModules(names: readonly InjectedName[], files: RegExp): void {
  const { registerHooks } = nodeModule as SynchronousHooks;
  if (registerHooks === undefined) {
    if (programFormat() === 'commonjs') return;
    const dependencies = programDependencies();
    const missed = names.filter((name) =>
      injectedPackages(name).some((each) => dependencies.includes(each)),
    );
    if (missed.length === 0) return;
    warn(
      `ES modules of ${missed.join(', ')} are not traced on Node ${process.versions.node}; this needs Node 22.15, 23.5 or later, or require()`,
    );
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
