import { readFileSync, realpathSync, statSync } from 'node:fs';
import { programPath } from '../core/program-path.js';
import { basename, dirname, join, resolve } from 'node:path';
import { wrongType } from '../core/errors.js';
import { MemoryGroup } from '../core/memory-group.js';
import { version as ownVersion } from '../core/version.js';
import { hasNames } from './attributes.js';
import type { SpanAttributes } from './attributes.js';
import { hookSpans } from './hook-spans.js';
import { CONTEXT, MEMORY_GROUP, MEMORY_LIMIT, STREAMS } from './layout.js';
import { detectResource } from './resource-detectors.js';
import { readResourceVariable } from './resource-variable.js';
import { SCHEMA_URL } from './conventions.js';

/** The service that records spans, its host and its process. */
export interface Resource {
  readonly attributes: SpanAttributes;
  readonly schemaUrl: string;
}

/** Options by which a program describes it. */
export interface ResourceOptions {
  service?: string;
  version?: string;
  resource?: SpanAttributes;
}

const MAX_MANIFEST_BYTES = 1 << 20;

interface Manifest {
  name?: unknown;
  version?: unknown;
  dependencies?: unknown;
  devDependencies?: unknown;
}

/** The package.json of the program: a tool in `node_modules` runs that of the working directory, which depends on it. */
function manifest(): Manifest {
  const script = programPath();
  if (script === undefined) return {};
  let path = resolve(script);
  try {
    path = realpathSync(path);
  } catch {
    // It is no file.
  }
  const own = nearestManifest(dirname(path));
  if (!/[\\/]node_modules[\\/]/.test(path)) return own;
  const program = nearestManifest(process.cwd());
  return dependsOn(program, own.name) ? program : own;
}

function dependsOn({ dependencies, devDependencies }: Manifest, name: unknown): boolean {
  return [dependencies, devDependencies].some(
    (each) => typeof each === 'object' && each !== null && Object.hasOwn(each, String(name)),
  );
}

function nearestManifest(from: string): Manifest {
  for (let directory = from; ; directory = dirname(directory)) {
    try {
      const path = join(directory, 'package.json');
      if (statSync(path).size <= MAX_MANIFEST_BYTES) {
        const found: unknown = JSON.parse(readFileSync(path, 'utf8'));
        return typeof found === 'object' && found !== null ? found : {};
      }
    } catch {
      // None here, or none that can be read.
    }
    if (directory === dirname(directory)) return {};
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function memoryGroup(): SpanAttributes {
  const group = MemoryGroup.own();
  if (group === undefined) return {};
  const limit = group.limit === undefined ? {} : { [MEMORY_LIMIT]: group.limit };
  return { [MEMORY_GROUP]: group.id, ...limit };
}

/**
 * The resource: what the program says, else the variables, else what the process and its package.json
 * say.
 *
 * @throws TracewrightError that names a wrong option.
 */
export function describeResource(options: ResourceOptions = {}): Resource {
  for (const name of ['service', 'version'] as const) {
    const value: unknown = options[name];
    if (value !== undefined && text(value) === undefined) throw wrongType(name, value, 'a text');
  }
  const given: unknown = options.resource ?? {};
  if (!hasNames(given)) {
    throw wrongType('resource', given, 'an object of names and values');
  }
  const { attributes: variables } = readResourceVariable(
    process.env['OTEL_RESOURCE_ATTRIBUTES'] ?? '',
  );
  const known = options.service === undefined || options.version === undefined ? manifest() : {};
  const script = programPath();
  const service =
    text(process.env['OTEL_SERVICE_NAME']) ??
    text(variables['service.name']) ??
    text(known.name) ??
    `unknown_service:${script === undefined ? 'node' : basename(script)}`;
  const serviceVersion = text(variables['service.version']) ?? text(known.version);
  return {
    schemaUrl: SCHEMA_URL,
    attributes: {
      ...detectResource(),
      'process.runtime.name': 'nodejs',
      'process.runtime.version': process.version.slice(1),
      'telemetry.sdk.name': 'tracewright',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.version': ownVersion,
      ...(hookSpans.hasContext ? {} : { [CONTEXT]: 'off' }),
      ...(hookSpans.open === undefined ? {} : { [STREAMS]: 'threads', ...memoryGroup() }),
      ...variables,
      'service.name': service,
      ...(serviceVersion === undefined ? {} : { 'service.version': serviceVersion }),
      ...given,
      ...(options.service === undefined ? {} : { 'service.name': options.service }),
      ...(options.version === undefined ? {} : { 'service.version': options.version }),
    },
  };
}
