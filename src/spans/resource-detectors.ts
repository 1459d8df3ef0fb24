import { itemsOf } from '../core/settings/kinds.js';
import { programPath } from '../core/program-path.js';
import { readFileSync } from 'node:fs';
import { arch, hostname, release, type, userInfo } from 'node:os';
import { basename } from 'node:path';
import type { SpanAttributes } from './attributes.js';

/** Names of detectors in `OTEL_NODE_RESOURCE_DETECTORS`. */
const DETECTORS = {
  host: (): SpanAttributes => ({ 'host.arch': archName(), ...hostId() }),
  os: (): SpanAttributes => ({ 'os.type': type().toLowerCase(), 'os.version': release() }),
  process: (): SpanAttributes => ({
    'process.executable.name': basename(process.execPath),
    'process.executable.path': process.execPath,
    ...commandLine(),
    ...command(),
    ...owner(),
    'process.runtime.description': 'Node.js',
  }),
  serviceinstance: (): SpanAttributes => ({ 'service.instance.id': instanceId() }),
};
type Detector = keyof typeof DETECTORS;

const BY_DEFAULT: readonly Detector[] = ['host', 'process'];
/** Whose attributes the resource always has, or that the variable of attributes brings. */
const ALWAYS = ['env'];

/** OpenTelemetry's names of processors, where Node's differ. */
const ARCHES: Readonly<Record<string, string>> = { arm: 'arm32', ppc: 'ppc32', x64: 'amd64' };

function archName(): string {
  return ARCHES[arch()] ?? arch();
}

/** The machine's id: a file of Linux. Nothing is started to find it on other systems. */
function hostId(): SpanAttributes {
  for (const path of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    try {
      const id = readFileSync(path, 'utf8').trim();
      if (/^[\da-f]{32}$/.test(id)) return { 'host.id': id };
    } catch {
      // Not there.
    }
  }
  return {};
}

/** Characters of a command line that is recorded: a longer one would leave no room for the rest of the resource. */
const MAX_COMMAND_LINE = 4096;

function commandLine(): SpanAttributes {
  const line = [process.argv0, ...process.execArgv, ...process.argv.slice(1)];
  return line.join(' ').length > MAX_COMMAND_LINE ? {} : { 'process.command_args': line };
}

function command(): SpanAttributes {
  const path = programPath();
  return path === undefined ? {} : { 'process.command': path };
}

function owner(): SpanAttributes {
  try {
    return { 'process.owner': userInfo().username };
  } catch {
    // A user of a container needs no name.
    return {};
  }
}

let instance: string | undefined;

/** One for all resources that this thread describes. */
function instanceId(): string {
  instance ??= process.getBuiltinModule('node:crypto').randomUUID();
  return instance;
}

function isDetector(name: string): name is Detector {
  return Object.hasOwn(DETECTORS, name);
}

/** The names in `OTEL_NODE_RESOURCE_DETECTORS`: those that are followed, and those that are not. */
export function readDetectors(text: string): { used: readonly Detector[]; unknown: string[] } {
  const names = itemsOf(text);
  if (names.length === 0) return { used: BY_DEFAULT, unknown: [] };
  if (names.includes('none')) return { used: [], unknown: [] };
  if (names.includes('all'))
    return { used: Object.keys(DETECTORS).filter(isDetector), unknown: [] };
  return {
    used: names.filter(isDetector),
    unknown: names.filter((name) => !isDetector(name) && !ALWAYS.includes(name)),
  };
}

/** Attributes of the host and the process. */
export function detectResource(): SpanAttributes {
  const { used } = readDetectors(process.env['OTEL_NODE_RESOURCE_DETECTORS'] ?? '');
  return Object.assign(
    { 'host.name': hostname(), 'process.pid': process.pid },
    ...used.map((name) => DETECTORS[name]()),
  ) as SpanAttributes;
}
