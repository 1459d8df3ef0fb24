import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { programFormat } from '../program-format.js';
import { reasonOf, warn } from '../warning.js';
import type { Instrumentation, RunningInstrumentation } from './find-instrumentations.js';

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
const HOOKS = 'import-in-the-middle';
/** They need nothing of what a program imports. */
const NEED_NO_IMPORTS = ['@prisma/instrumentation'];

/** The libraries that an instrumentation waits for. */
function targetsOf(instrumentation: Instrumentation): string[] {
  const { _modules: modules } = instrumentation as { _modules?: unknown };
  if (!Array.isArray(modules)) return [];
  return modules
    .map((module) => (module as { name?: unknown } | undefined)?.name)
    .filter((name) => typeof name === 'string');
}

function synchronousHooks(require: NodeJS.Require): SynchronousHooks | undefined {
  try {
    // `require` of an ES module: Nodes that cannot do that have no synchronous hooks either.
    const supports = require(`${HOOKS}/supports-sync-hooks.mjs`) as SynchronousHooks;
    return supports.supportsSyncHooks()
      ? (require(`${HOOKS}/register-hooks.mjs`) as SynchronousHooks)
      : undefined;
  } catch {
    return undefined;
  }
}

function hookWith(copy: string, include: string[]): void {
  const hooks = synchronousHooks(createRequire(copy));
  if (hooks !== undefined) {
    hooks.register({ include });
    return;
  }
  // These run in a thread of their own, whose start takes long: only where the program needs it.
  if (programFormat() === 'commonjs') return;
  register(`${HOOKS}/hook.mjs`, pathToFileURL(copy), { data: { include } });
}

/** The copy of `import-in-the-middle` that an instrumentation uses; undefined: it instruments no modules. */
function copyOf({ found }: RunningInstrumentation): string | undefined {
  try {
    return createRequire(createRequire(found.path).resolve(BASE)).resolve(HOOKS);
  } catch {
    return undefined;
  }
}

/**
 * Lets instrumentations see the libraries that the program imports. Of several copies of `import-in-the-middle` the
 * one that most of them use is taken: each takes what another one has changed for its own.
 */
export function hookImports(running: readonly RunningInstrumentation[]): void {
  const users = new Map<string, RunningInstrumentation[]>();
  for (const each of running) {
    const copy = copyOf(each);
    if (copy === undefined || targetsOf(each.instrumentation).length === 0) continue;
    users.set(copy, [...(users.get(copy) ?? []), each]);
  }
  const [most, ...others] = [...users].sort(([, a], [, b]) => b.length - a.length);
  if (most === undefined) return;
  const [copy, instrumentations] = most;
  const include = new Set(
    instrumentations.flatMap(({ instrumentation }) => targetsOf(instrumentation)),
  );
  try {
    hookWith(copy, [...include]);
  } catch (error) {
    warn(`instrumentations do not see what the program imports: ${reasonOf(error)}`);
  }
  const blind = others
    .flatMap(([, each]) => each.map(({ found }) => found.name))
    .filter((name) => !NEED_NO_IMPORTS.includes(name));
  if (blind.length > 0 && programFormat() === 'module') {
    warn(
      `${blind.join(', ')} do not see what the program imports: they use another version of ${HOOKS} than the others`,
    );
  }
}
