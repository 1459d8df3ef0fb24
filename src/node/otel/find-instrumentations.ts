import { itemsOf } from '../../core/settings/kinds.js';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { entryOf, LIBRARY_NAMES } from '../../libraries/table.js';
import type { LibraryName } from '../../libraries/table.js';
import { warn } from '../warning.js';
import {
  ancestors,
  dependedInstrumentations,
  INSTRUMENTATIONS,
  programDirectory,
  readManifest,
} from './program-dependencies.js';

/** An instrumentation that is installed. */
export interface FoundInstrumentation {
  /** Of the package. */
  name: string;
  /** The file that the package's name leads to. */
  path: string;
}

/** An instrumentation of OpenTelemetry, as far as its methods are documented. */
export interface Instrumentation {
  enable(): void;
  disable(): void;
}

/** An instrumentation that runs. */
export interface RunningInstrumentation {
  found: FoundInstrumentation;
  instrumentation: Instrumentation;
}

/** OpenTelemetry's package of all its own instrumentations. */
const ALL = '@opentelemetry/auto-instrumentations-node';
const OFFICIAL = '@opentelemetry/instrumentation-';
/** The hook records this itself, or it has no spans. */
const OFF = ['http', 'undici', 'runtime-node', 'host-metrics'].map((name) => OFFICIAL + name);
/** Not by default in the package of all: every file that is read would be a span. */
const OFF_BY_DEFAULT = [`${OFFICIAL}fs`];

/** The package that an official instrumentation changes, if its name does not say it. */
const TARGETS: Readonly<Record<string, readonly string[]>> = {
  'aws-sdk': ['aws-sdk', '@aws-sdk', '@smithy'],
  cucumber: ['@cucumber/cucumber'],
  grpc: ['@grpc/grpc-js'],
  hapi: ['@hapi/hapi'],
  'nestjs-core': ['@nestjs/core'],
  redis: ['redis', '@redis/client', '@node-redis/client'],
};
/** Of Node itself. */
const BUILT_IN = ['dns', 'fs', 'net'];

/** Where a package is installed that the program, or a package of it, finds; undefined: nowhere. */
function packageIn(name: string, directory: string): string | undefined {
  for (const parent of ancestors(directory)) {
    const modules = join(parent, 'node_modules');
    // pnpm keeps in the second path what only packages depend on.
    for (const path of [join(modules, name), join(modules, '.pnpm', 'node_modules', name)]) {
      if (existsSync(path)) return path;
    }
  }
  return undefined;
}

function isInstalled(name: string, directory: string): boolean {
  return process.versions['pnp'] !== undefined || packageIn(name, directory) !== undefined;
}

/** The libraries of an instrumentation. */
export function recordedBy(instrumentation: string): readonly LibraryName[] {
  return LIBRARY_NAMES.filter((name) =>
    entryOf(name).instrumentation?.names.some(
      (each) => (each.startsWith('@') ? each : OFFICIAL + each) === instrumentation,
    ),
  );
}

function numbersOf(version: string): number[] {
  return version.split('.').map((part) => Number.parseInt(part));
}

/** Whether a library publishes what it does, so that the hook records it. */
function isRecorded(name: LibraryName, directory: string, injected: readonly string[]): boolean {
  const { target = name, from, publishes = from, before } = entryOf(name).instrumentation!;
  const found = packageIn(target, directory);
  const { version } = (found === undefined ? undefined : readManifest(found)) ?? {};
  if (typeof version !== 'string') return false;
  const numbers = numbersOf(version);
  if (before !== undefined && numbers[0]! >= before) return false;
  const first = numbersOf(injected.includes(name) ? from : publishes);
  const differs = first.findIndex((number, at) => number !== numbers[at]);
  return differs === -1 || numbers[differs]! > first[differs]!;
}

/** From a variable that OpenTelemetry's own package reads too. */
function namesIn(variable: string): string[] {
  return itemsOf(process.env[variable] ?? '').map((name) => OFFICIAL + name);
}

/** Those in the package of all whose libraries are installed: loading all of them takes long. */
function ofPackageOfAll(path: string, directory: string): FoundInstrumentation[] {
  const enabled = namesIn('OTEL_NODE_ENABLED_INSTRUMENTATIONS');
  const disabled = namesIn('OTEL_NODE_DISABLED_INSTRUMENTATIONS');
  for (const parent of ancestors(dirname(path))) {
    const { name, dependencies } = readManifest(parent) ?? {};
    if (name !== ALL) continue;
    const { resolve } = createRequire(path);
    return Object.keys(dependencies ?? {})
      .filter((each) => each.startsWith(OFFICIAL) && !OFF.includes(each))
      .filter((each) =>
        enabled.length > 0 ? enabled.includes(each) : !OFF_BY_DEFAULT.includes(each),
      )
      .filter((each) => !disabled.includes(each))
      .filter((each) => {
        const short = each.slice(OFFICIAL.length);
        if (BUILT_IN.includes(short)) return true;
        if (short === 'aws-lambda') return process.env['AWS_LAMBDA_FUNCTION_NAME'] !== undefined;
        return (TARGETS[short] ?? [short]).some((target) => isInstalled(target, directory));
      })
      .map((each) => ({ name: each, path: resolve(each) }));
  }
  return [];
}

/** The packages that a name in the variable may mean. */
function namesOf(name: string): string[] {
  return name.startsWith('@') || INSTRUMENTATIONS.test(name) ? [name] : [OFFICIAL + name, name];
}

/** Which instrumentations are to be started. */
interface FoundInstrumentations {
  found: FoundInstrumentation[];
  /** Libraries that the hook leaves to them, as in `TRACEWRIGHT_LIBRARIES`. */
  libraries: string[];
}

/**
 * The instrumentations that the program has installed.
 *
 * @param wanted `auto`: those that its package.json names, unless the hook records the library itself; else names of
 *   packages, or the ends of OpenTelemetry's own names: `pg`. One that cannot be found causes a warning.
 * @param libraries what the hook records itself, as in `TRACEWRIGHT_LIBRARIES`.
 * @param injected of these, those that get channels if they have none.
 */
export function findInstrumentations(
  wanted: 'auto' | readonly string[],
  libraries: readonly string[],
  injected: readonly string[],
): FoundInstrumentations {
  const directory = programDirectory();
  const { resolve } = createRequire(join(directory, 'x'));
  const found = new Map<string, FoundInstrumentation>();
  const add = (name: string): boolean => {
    let path: string;
    try {
      path = resolve(name);
    } catch {
      return false;
    }
    const each = name === ALL ? ofPackageOfAll(path, directory) : [{ name, path }];
    for (const one of each) if (!found.has(one.name)) found.set(one.name, one);
    return true;
  };
  if (wanted === 'auto') {
    const names = dependedInstrumentations();
    // The program's own copy of an instrumentation goes first.
    for (const name of names) if (name !== ALL && !OFF.includes(name)) add(name);
    if (names.includes(ALL)) add(ALL);
  } else {
    for (const name of wanted) addNamed(name, add);
  }
  const left: string[] = [];
  for (const name of [...found.keys()]) {
    const recorded = recordedBy(name).filter((each) => libraries.includes(each));
    if (wanted !== 'auto') left.push(...recorded);
    else if (recorded.some((each) => isRecorded(each, directory, injected))) found.delete(name);
  }
  return { found: [...found.values()], libraries: left };
}

function addNamed(name: string, add: (name: string) => boolean): void {
  const names = namesOf(name);
  if (names.some((each) => OFF.includes(each))) {
    warn(`TRACEWRIGHT_INSTRUMENTATIONS: ${name} is left out, because the hook records it itself`);
  } else if (!names.some(add)) {
    warn(`TRACEWRIGHT_INSTRUMENTATIONS: the program cannot resolve ${names.join(' or ')}`);
  }
}
