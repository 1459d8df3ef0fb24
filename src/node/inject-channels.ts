import { createRequire } from 'node:module';
import { isAbsolute } from 'node:path';
import { INJECTIONS } from '../libraries/injected-channels.js';
import type { Injection } from '../libraries/injected-channels.js';
import type { InjectedName } from '../libraries/watched-channels.js';
import { EsModules, injectEsModules } from './es-module-injection.js';
import type { Instrumentator } from './es-module-injection.js';
import { reasonOf, warn } from './warning.js';

const PACKAGE = '@apm-js-collab/tracing-hooks';

/** What the package exports: it changes the text of modules of CommonJS before Node compiles it. */
type ModulePatch = new (options: { instrumentations: readonly Injection[] }) => {
  patch(): void;
  readonly instrumentator: Instrumentator;
};

interface Diagnostics {
  setDiagnosticsHook: (hook: (outcome: { moduleName: string; error?: unknown }) => void) => void;
}

/** The program's copy of the package, that of the working directory, or one next to this. */
function loadPackage(): { Patch: ModulePatch; diagnostics: Diagnostics } {
  const own = typeof __filename === 'string' ? [__filename] : [];
  const places = [process.argv[1] ?? '', `${process.cwd()}/`, ...own].filter(isAbsolute);
  let failure: unknown;
  for (const place of places) {
    try {
      const require = createRequire(place);
      const path = require.resolve(PACKAGE);
      const Patch = require(path) as ModulePatch;
      const inside = createRequire(path);
      return { Patch, diagnostics: inside('./lib/diagnostics.js') as Diagnostics };
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

/** Changes ES modules in the thread of Node's module hooks. */
export function esModulesOf(
  names: readonly InjectedName[],
  warnOf: (message: string) => void,
): EsModules {
  const instrumentations = names.flatMap((name) => INJECTIONS[name]);
  const { instrumentator } = new (loadPackage().Patch)({ instrumentations });
  return new EsModules(names, instrumentator, warnOf);
}

/**
 * Puts tracing channels into libraries that have none, as this thread loads them. What cannot be changed runs as it
 * is, with a warning.
 */
export function injectChannels(names: readonly InjectedName[]): void {
  let loaded: ReturnType<typeof loadPackage>;
  try {
    loaded = loadPackage();
  } catch (error) {
    const reason = reasonOf(error).split('\n')[0];
    warn(`TRACEWRIGHT_INJECT needs the package ${PACKAGE}, which cannot be loaded: ${reason}`);
    return;
  }
  const { Patch, diagnostics } = loaded;
  diagnostics.setDiagnosticsHook(({ moduleName, error }) => {
    if (error !== undefined) warn(`${moduleName} is not traced: ${reasonOf(error)}`);
  });
  const patch = new Patch({ instrumentations: names.flatMap((name) => INJECTIONS[name]) });
  patch.patch();
  injectEsModules(names, patch.instrumentator);
}
