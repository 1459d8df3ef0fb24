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

/** The packages that the program depends on, by its nearest package.json that depends on anything. */
export function programDependencies(): string[] {
  for (const directory of ancestors(programDirectory())) {
    const { dependencies } = readManifest(directory) ?? {};
    if (typeof dependencies === 'object' && dependencies !== null) return Object.keys(dependencies);
  }
  return [];
}

/** The instrumentations that the program depends on. */
export function dependedInstrumentations(): string[] {
  return programDependencies().filter((name) => INSTRUMENTATIONS.test(name));
}
