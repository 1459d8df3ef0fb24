import { createRequire } from 'node:module';
import { reasonOf, warn } from '../warning.js';
import { findInstrumentations } from './find-instrumentations.js';
import { hookImports } from './import-hooks.js';
import { hookCoreModulesLate } from './late-core-hooks.js';
import type {
  FoundInstrumentation,
  Instrumentation,
  RunningInstrumentation,
} from './find-instrumentations.js';

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

/** What was started. */
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
