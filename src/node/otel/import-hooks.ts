import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { reasonOf, warn } from '../warning.js';
import type { Instrumentation, RunningInstrumentation } from './instrumentation.js';
import { programFormat } from './program-format.js';

/**
 * Instrumentations see what `require` loads by themselves. For what `import` loads, they need
 * `import-in-the-middle` among Node's module hooks.
 */

/** The synchronous hooks of `import-in-the-middle` 3 and later. */
interface SynchronousHooks {
  supportsSyncHooks(): boolean;
  register(options: { include: string[] }): void;
}

const BASE = '@opentelemetry/instrumentation';
const HOOKS = 'import-in-the-middle/register-hooks.mjs';

/** The libraries that an instrumentation waits for; undefined: it does not say. */
function targetsOf(instrumentation: Instrumentation): string[] | undefined {
  const { _modules: modules } = instrumentation as { _modules?: unknown };
  if (!Array.isArray(modules)) return undefined;
  return modules
    .map((module) => (module as { name?: unknown } | undefined)?.name)
    .filter((name) => typeof name === 'string');
}

function synchronousHooks(require: NodeJS.Require): SynchronousHooks | undefined {
  try {
    // `require` of an ES module: Nodes that cannot do that have no synchronous hooks either.
    const supports = require('import-in-the-middle/supports-sync-hooks.mjs') as SynchronousHooks;
    return supports.supportsSyncHooks() ? (require(HOOKS) as SynchronousHooks) : undefined;
  } catch {
    return undefined;
  }
}

function hookWith(base: string, include: string[]): void {
  const require = createRequire(base);
  const hooks = synchronousHooks(require);
  if (hooks !== undefined) {
    hooks.register({ include });
    return;
  }
  // These run in a thread of their own, whose start takes long: only where the program needs it.
  if (programFormat() === 'commonjs') return;
  register(`${BASE}/hook.mjs`, pathToFileURL(base), { data: { include } });
}

/** Lets instrumentations see the libraries that the program imports. */
export function hookImports(running: readonly RunningInstrumentation[]): void {
  const targets = new Map<string, Set<string>>();
  for (const { found, instrumentation } of running) {
    let base: string;
    try {
      base = createRequire(found.path).resolve(BASE);
    } catch {
      // It is no instrumentation of modules.
      continue;
    }
    const known = targets.get(base) ?? new Set<string>();
    targets.set(base, known);
    for (const name of targetsOf(instrumentation) ?? []) known.add(name);
  }
  for (const [base, include] of targets) {
    if (include.size === 0) continue;
    try {
      hookWith(base, [...include]);
    } catch (error) {
      warn(`instrumentations do not see what the program imports: ${reasonOf(error)}`);
    }
  }
}
