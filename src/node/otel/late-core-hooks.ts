import type { RunningInstrumentation } from './find-instrumentations.js';

type OnRequire = (exports: unknown, name: string, directory?: string) => unknown;

/** What calls the instrumentations of one copy of OpenTelemetry's base package when something is required. */
interface SharedHook {
  register(name: string, onRequire: OnRequire): unknown;
}

/** Parts of Node that instrumentations change. */
const CORE_MODULES = ['dns', 'fs', 'http', 'http2', 'https', 'net', 'tls'];

const known = new WeakSet<SharedHook>();

function sharedHookOf({ instrumentation }: RunningInstrumentation): SharedHook | undefined {
  const { _requireInTheMiddleSingleton: hook } = instrumentation as {
    _requireInTheMiddleSingleton?: Partial<SharedHook>;
  };
  return typeof hook?.register === 'function' ? (hook as SharedHook) : undefined;
}

/**
 * Lets an instrumentation that the program starts later change parts of Node that were required before. The hook calls
 * nobody for what it has seen once, and it sees more as soon as any instrumentation has started.
 */
export function hookCoreModulesLate(running: readonly RunningInstrumentation[]): void {
  for (const hook of running.flatMap((each) => sharedHookOf(each) ?? [])) {
    if (known.has(hook)) continue;
    known.add(hook);
    const loaded = new Map<string, unknown>();
    const register = hook.register.bind(hook);
    for (const name of CORE_MODULES) {
      register(name, (exports) => {
        loaded.set(name, exports);
        return exports;
      });
    }
    hook.register = (name, onRequire) => {
      const registered = register(name, onRequire);
      const exports = loaded.get(name);
      // It changes the object itself, which all share.
      if (exports !== undefined) onRequire(exports, name);
      return registered;
    };
  }
}
