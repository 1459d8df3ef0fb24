import { readFileSync, realpathSync, statSync } from 'node:fs';
import { programPath } from '../../core/program-path.js';
import { dirname } from 'node:path';
import { pathIn } from '../../core/files/path-in.js';

const MAX_MANIFEST_BYTES = 1 << 20;
/** Packages of instrumentations, of OpenTelemetry and of others that are known to have one. */
export const INSTRUMENTATIONS =
  /^@opentelemetry\/(?:instrumentation-|auto-instrumentations-node$)|^@prisma\/instrumentation$|^@fastify\/otel$|^opentelemetry-instrumentation-|^@traceloop\/instrumentation-|^@[\w.-]+\/opentelemetry-instrumentation-/;

/** A package.json, as far as it is needed here. */
interface Manifest {
  name?: unknown;
  version?: unknown;
  type?: unknown;
  /** The entry of ES modules, for bundlers. */
  module?: unknown;
  dependencies?: unknown;
}

/** The package.json of a directory; undefined: there is none that can be read. */
export function readManifest(directory: string): Manifest | undefined {
  try {
    const path = pathIn(directory, 'package.json');
    // An error would take as long as ten answers.
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || stats.size > MAX_MANIFEST_BYTES) return undefined;
    const found: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof found === 'object' && found !== null ? found : undefined;
  } catch {
    return undefined;
  }
}

/** A directory and all above it. */
export function* ancestors(directory: string): Generator<string> {
  for (let at = directory; ; at = dirname(at)) {
    yield at;
    if (at === dirname(at)) return;
  }
}

/** Where the program lies. A command of a package, such as `next`, runs the program of the working directory. */
export function programDirectory(): string {
  const script = programPath();
  if (script === undefined) return process.cwd();
  try {
    const path = realpathSync(script);
    return /[\\/]node_modules[\\/]/.test(path) ? process.cwd() : dirname(path);
  } catch {
    return process.cwd();
  }
}

type Dependencies = Readonly<Record<string, unknown>>;

/** Names and versions, by the nearest package.json that depends on anything. */
function dependenciesFor(start: string): Dependencies {
  for (const directory of ancestors(start)) {
    const { dependencies } = readManifest(directory) ?? {};
    if (typeof dependencies === 'object' && dependencies !== null) {
      return dependencies as Dependencies;
    }
  }
  return {};
}

let found: Dependencies | undefined;

function dependenciesOfProgram(): Dependencies {
  return (found ??= dependenciesFor(programDirectory()));
}

/** The packages that the program depends on. */
export function programDependencies(): string[] {
  return Object.keys(dependenciesOfProgram());
}

/** As npm writes a package under another name: `npm:pg@^8.0.0`. */
const ALIAS = /^npm:(@?[^@]+)/;

let aliases: ReadonlyMap<string, string> | undefined;

/** Packages that the program, or the directory that it runs in, has under another name: by that name. */
export function aliasedPackages(): ReadonlyMap<string, string> {
  if (aliases !== undefined) return aliases;
  const cwd = process.cwd();
  const isElsewhere = cwd !== programDirectory();
  const all = { ...(isElsewhere ? dependenciesFor(cwd) : {}), ...dependenciesOfProgram() };
  const entries = Object.entries(all).flatMap(([name, version]): [string, string][] => {
    const own = typeof version === 'string' ? ALIAS.exec(version)?.[1] : undefined;
    return own === undefined ? [] : [[name, own]];
  });
  return (aliases = new Map(entries));
}

/** The instrumentations that the program depends on. */
export function dependedInstrumentations(): string[] {
  return programDependencies().filter((name) => INSTRUMENTATIONS.test(name));
}
