import { createRequire } from 'node:module';
import { reasonOf, warn } from '../warning.js';
import { findInstrumentations } from './find-instrumentations.js';
import type {
  FoundInstrumentation,
  Instrumentation,
  RunningInstrumentation,
} from './find-instrumentations.js';
import { hookImports } from './import-hooks.js';

type OnRequire = (exports: unknown, name: string, directory?: string) => unknown;

/** Calls the instrumentations of one copy of OpenTelemetry's base package when something is required. */
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
function hookCoreModulesLate(running: readonly RunningInstrumentation[]): void {
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

type InstrumentationClass = new (config: object) => Instrumentation;

/** Options without which an instrumentation does nothing. */
const OPTIONS: Readonly<Record<string, object>> = {
  '@fastify/otel': { registerOnInitialization: true },
};

function isInstrumentation(value: unknown): value is InstrumentationClass {
  if (typeof value !== 'function') return false;
  const prototype = value.prototype as Partial<Record<string, unknown>> | undefined;
  return ['enable', 'disable', 'setTracerProvider'].every(
    (name) => typeof prototype?.[name] === 'function',
  );
}

/** The classes of instrumentations in a package. Packages export one, mostly under two names. */
function classesOf(exported: unknown): Set<InstrumentationClass> {
  if (isInstrumentation(exported)) return new Set([exported]);
  if (typeof exported !== 'object' || exported === null) return new Set();
  return new Set(Object.values(exported).filter(isInstrumentation));
}

function start({ name, path }: FoundInstrumentation): Instrumentation[] {
  const classes = classesOf(createRequire(path)(path));
  if (classes.size === 0) throw new Error('it exports no instrumentation');
  return [...classes].map((each) => new each({ ...OPTIONS[name] }));
}

/** The instrumentations that were started. */
interface StartedInstrumentations {
  running: readonly RunningInstrumentation[];
  /** Libraries that the hook leaves to them. */
  libraries: readonly string[];
}

/**
 * Starts the instrumentations that the program has installed. They get their tracers from the API, as always:
 * from the hook. The parameters are those of {@link findInstrumentations}.
 */
export function startInstrumentations(
  wanted: 'auto' | readonly string[],
  recorded: readonly string[],
  injected: readonly string[],
): StartedInstrumentations {
  const running: RunningInstrumentation[] = [];
  const { found, libraries } = findInstrumentations(wanted, recorded, injected);
  for (const each of found) {
    try {
      for (const instrumentation of start(each)) running.push({ found: each, instrumentation });
    } catch (error) {
      warn(`${each.name} is not started: ${reasonOf(error)}`);
    }
  }
  if (running.length > 0) {
    hookImports(running);
    hookCoreModulesLate(running);
  }
  return { running, libraries };
}

/** Takes back what the instrumentations have changed in the libraries. */
export function disableInstrumentations({ running }: StartedInstrumentations): void {
  for (const { found, instrumentation } of running) {
    try {
      instrumentation.disable();
    } catch (error) {
      warn(`${found.name} is not disabled: ${reasonOf(error)}`);
    }
  }
}
