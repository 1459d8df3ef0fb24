import { programPath } from '../core/program-path.js';
import { basename, extname } from 'node:path';
import { switchOf, SWITCH_VALUES } from '../core/options/switch.js';
import type { Propagation, Trust } from './requests/propagation-policy.js';
import {
  INJECT_LIMIT,
  LIBRARIES_LIMIT,
  namedLibraries,
  parseInject,
  parseLibraries,
  recordedNames,
} from './library-settings.js';
import type { LibrarySettings } from './library-settings.js';
import { DEFAULT_NAMES, INJECTED_NAMES } from '../libraries/watched-channels.js';
import { hostName } from './machine.js';
import { warn } from './warning.js';

/** The hook's settings in the environment. Settings of rings and sizes belong to src/core/options. */
export interface Settings {
  /** `TRACEWRIGHT_FORMATS`: `heph` (default), `ovni` or both. */
  ovni: boolean;
  heph: boolean;
  /** `TRACEWRIGHT_DIR`: the directory of the run; default `traces/<name>-<date and time>-<pid>`. */
  directory: string | undefined;
  /** `TRACEWRIGHT_HEPH_TARGET`: a file, `udp://`, `tcp://` or `unix:`, instead of the directory. */
  hephTarget: string | undefined;
  /** `TRACEWRIGHT_OVNI_VERSION`: 3 (default), or 1. */
  ovniVersion: 1 | 3;
  /** `TRACEWRIGHT_LOOM`: name of the loom; default the name of the host. */
  loom: string;
  /** `TRACEWRIGHT_APP`: application id, 1 (default) to 2^31 - 1. */
  app: number;
  /** `TRACEWRIGHT_NAME`: names directories and files; default the script's file name. */
  name: string;
  /** `TRACEWRIGHT_CONTEXT`: what a request does is below it: on by default. */
  context: boolean;
  /** `TRACEWRIGHT_PROPAGATE`: hosts to which requests carry the trace. Without context it is none. */
  propagation: Propagation;
  /** `TRACEWRIGHT_TRUST`: callers that decide whether their traces are recorded. */
  trust: Trust;
  /**
   * `TRACEWRIGHT_LIBRARIES`: `auto` (default), `off`, or names. Where there is no context, no library is recorded.
   * `TRACEWRIGHT_INJECT`: `auto` (default), `off`, or names of those without channels.
   * `TRACEWRIGHT_QUERY_TEXT` and `TRACEWRIGHT_ERROR_TEXT`: `1` records more of them.
   */
  libraries: LibrarySettings;
  /**
   * `TRACEWRIGHT_OTEL`: the OpenTelemetry API is served: `on`, `off`, or `auto` (default), which is on where
   * requests have context.
   */
  otel: boolean;
  /**
   * `TRACEWRIGHT_INSTRUMENTATIONS`: which of OpenTelemetry's instrumentations are started: `auto` (default), which
   * starts those that the program depends on, `off`, or names.
   */
  instrumentations: 'auto' | readonly string[];
  /** `TRACEWRIGHT_REQUEST_BYTES`: `1`: request spans contain the number of bytes written. */
  requestBytes: boolean;
  /**
   * `TRACEWRIGHT_STALL_MS`: milliseconds after which an event loop that does not turn is recorded, 10 to
   * 60,000, default 50; 0 or `off`: loops are not watched.
   */
  stallMs: number;
  /**
   * `TRACEWRIGHT_GC_MS`: milliseconds from which a garbage collection is a span, 0 to 60,000, default 1; -1 for
   * `off`: none is, and none is counted.
   */
  collectionMs: number;
  /** `TRACEWRIGHT_SHIP`: where a process next to the run sends its spans; undefined: nowhere. */
  ship: string | undefined;
  /** `TRACEWRIGHT_QUIET`: `1`: the place of the traces is not printed. */
  quiet: boolean;
}

const FORMATS = ['heph', 'ovni'];
const MAX_LOOM_BYTES = 200;
/** Milliseconds: a shorter limit costs more than it shows. */
const MIN_STALL = 10;
const MAX_STALL = 60_000;
const MAX_APP = 0x7fff_ffff;
/** Of a name that becomes part of a file's; the rest of it needs room too. */
const MAX_NAME = 80;

const PREFIX = 'TRACEWRIGHT_';
/** Every variable that something of Tracewright reads in a traced process, without the prefix. */
const VARIABLES =
  'CONTEXT OTEL INSTRUMENTATIONS RATIO_RULE PROPAGATE TRUST LIBRARIES INJECT QUERY_TEXT ERROR_TEXT REDACT_DROP REDACT_MASK REDACT_PATHS ENABLED REQUIRED CODE_CACHE FORMATS DIR HEPH_TARGET OVNI_VERSION LOOM APP NAME REQUEST_BYTES STALL_MS GC_MS SHIP QUIET' +
  ' RING_BYTES RING_DIR FILE_MODE ON_FULL CLOCK MAX_BYTES ROTATE_BYTES AT_MAX_BYTES OPEN_SPANS OPEN_SPAN_BYTES KEEP WAITING_BYTES DUMPI_DIR PREBUILD';
/** How a run describes itself to its child processes. */
const RUN = 'TRACEWRIGHT_RUN';

/** A variable of OpenTelemetry that most programs set. Any value fits. */
const USUAL = 'OTEL_SERVICE_NAME';
/** Of the sampler that a variable of OpenTelemetry chooses. */
const RATIO_RULE = 'TRACEWRIGHT_RATIO_RULE';

/** Without a list of them: most starts look up few. */
function isVariable(name: string): boolean {
  return ` ${VARIABLES} `.includes(` ${name} `);
}

/** Warns of misspelt variables, and of those of OpenTelemetry that are not followed, once for each run. */
function warnOfVariables(): void {
  if (RUN in process.env) return;
  let hasOthers = false;
  for (const name of Object.keys(process.env)) {
    hasOthers ||= (name.startsWith('OTEL_') && name !== USUAL) || name === RATIO_RULE;
    const own = name.slice(PREFIX.length);
    if (!name.startsWith(PREFIX) || isVariable(own) || own.startsWith('TEST_')) continue;
    const { didYouMean } =
      require('../core/nearest-name.js') as typeof import('../core/nearest-name.js');
    warn(`${name} is an unknown variable${didYouMean(own, VARIABLES.split(' '), PREFIX)}`);
  }
  if (!hasOthers) return;
  const { answersToVariables } =
    require('../spans/open-telemetry-variables.js') as typeof import('../spans/open-telemetry-variables.js');
  answersToVariables(process.env).forEach(warn);
}

const TS_NODE = /[\\/]ts-node(?:[\\/]dist[\\/]|$|-)/;
const SCRIPT = /\.[cm]?[jt]sx?$/;

/** The name of the program. ts-node runs it in its own process, as an argument. */
function scriptName(): string {
  const [, , ...rest] = process.argv;
  const first = programPath();
  if (first === undefined) return 'node';
  const script = (TS_NODE.test(first) && rest.find((text) => SCRIPT.test(text))) || first;
  return basename(script, extname(script));
}

function fileName(text: string): string {
  const name = text.replace(/[^\w.-]+/g, '_').slice(0, MAX_NAME);
  return /^\.*$/.test(name) ? 'node' : name;
}

function text(variable: string): string | undefined {
  const value = process.env[variable];
  return value === undefined || value === '' ? undefined : value;
}

/** The value of a variable, or the default and a warning when it is not acceptable. */
function read<T>(
  variable: string,
  otherwise: T,
  limit: string,
  parse: (text: string) => T | undefined,
  shown = Array.isArray(otherwise) ? otherwise.join(',') : String(otherwise),
): T {
  const given = text(variable);
  if (given === undefined) return otherwise;
  const value = parse(given);
  if (value !== undefined) return value;
  warn(`${variable} must be ${limit}, got ${JSON.stringify(given)}; ${shown} is used`);
  return otherwise;
}

function policy(): typeof import('./requests/propagation-policy.js') {
  return require('./requests/propagation-policy.js') as typeof import('./requests/propagation-policy.js');
}

const EVERYWHERE: Propagation = { everywhere: true, hosts: [] };
const NOWHERE: Propagation = { everywhere: false, hosts: [] };
const LOOPBACK: Trust = ['loopback'];

function readPropagation(): Propagation {
  return read(
    'TRACEWRIGHT_PROPAGATE',
    EVERYWHERE,
    'auto, off, or names of hosts with commas between them',
    (value) => policy().parsePropagation(value),
    'auto',
  );
}

const AUTO_OR_SWITCH = 'auto, on or off';

const autoOrSwitch = (value: string): 'auto' | boolean | undefined =>
  value.trim().toLowerCase() === 'auto' ? 'auto' : switchOf(value);

/** URLs of targets of `tracewright ship`. */
const SHIPPED = /^(?:https?|nats|tls|file):\/\//i;

/** The name of a package, or the end of one of OpenTelemetry's. */
const INSTRUMENTATION = /^(?:@[\w.-]+\/)?[\w.-]+$/;

function parseInstrumentations(value: string): 'auto' | readonly string[] | undefined {
  const names = value.split(',').map((name) => name.trim());
  if (names.length === 1 && names[0]!.toLowerCase() === 'auto') return 'auto';
  if (names.length === 1 && switchOf(names[0]!) === false) return [];
  return names.every((name) => INSTRUMENTATION.test(name)) ? names : undefined;
}

function readLibraries(propagation: Propagation): LibrarySettings {
  const names = read(
    'TRACEWRIGHT_LIBRARIES',
    DEFAULT_NAMES,
    LIBRARIES_LIMIT,
    parseLibraries,
    'auto',
  );
  const injected = read('TRACEWRIGHT_INJECT', INJECTED_NAMES, INJECT_LIMIT, parseInject, 'auto');
  return {
    names: recordedNames(names, injected),
    named: namedLibraries(text('TRACEWRIGHT_LIBRARIES') ?? ''),
    injected,
    queryText: read('TRACEWRIGHT_QUERY_TEXT', false, SWITCH_VALUES, switchOf),
    errorText: read('TRACEWRIGHT_ERROR_TEXT', false, SWITCH_VALUES, switchOf),
    propagates: propagation.everywhere,
  };
}

/** Reads the environment. An invalid value causes a warning and its default, an unknown name a warning. */
export function readSettings(): Settings {
  warnOfVariables();
  const context = read('TRACEWRIGHT_CONTEXT', true, SWITCH_VALUES, switchOf);
  const propagation = context ? readPropagation() : NOWHERE;
  const formats = read('TRACEWRIGHT_FORMATS', ['heph'], 'heph, ovni or heph,ovni', (value) => {
    const names = value.split(',').map((name) => name.trim());
    return names.every((name) => FORMATS.includes(name)) ? names : undefined;
  });
  const otel = read<'auto' | boolean>('TRACEWRIGHT_OTEL', 'auto', AUTO_OR_SWITCH, autoOrSwitch);
  return {
    ovni: formats.includes('ovni'),
    heph: formats.includes('heph'),
    directory: text('TRACEWRIGHT_DIR'),
    hephTarget: text('TRACEWRIGHT_HEPH_TARGET'),
    ovniVersion: read<1 | 3>('TRACEWRIGHT_OVNI_VERSION', 3, '1 or 3', (value) =>
      value === '1' ? 1 : value === '3' ? 3 : undefined,
    ),
    loom: read('TRACEWRIGHT_LOOM', hostName(), "1 to 200 bytes without '/'", (value) =>
      Buffer.byteLength(value) <= MAX_LOOM_BYTES && !value.includes('/') ? value : undefined,
    ),
    app: read('TRACEWRIGHT_APP', 1, `an integer from 1 to ${MAX_APP}`, (value) => {
      const app = Number(value);
      return Number.isInteger(app) && app >= 1 && app <= MAX_APP ? app : undefined;
    }),
    name: fileName(text('TRACEWRIGHT_NAME') ?? scriptName()),
    libraries: readLibraries(propagation),
    context,
    propagation,
    trust: read(
      'TRACEWRIGHT_TRUST',
      LOOPBACK,
      'loopback, all, none, or addresses with commas between them',
      (value) => policy().parseTrust(value),
      'loopback',
    ),
    otel: otel === 'auto' ? context : otel,
    instrumentations: read<'auto' | readonly string[]>(
      'TRACEWRIGHT_INSTRUMENTATIONS',
      'auto',
      'auto, off, or names of packages with commas between them',
      parseInstrumentations,
    ),
    requestBytes: read('TRACEWRIGHT_REQUEST_BYTES', false, SWITCH_VALUES, switchOf),
    stallMs: read('TRACEWRIGHT_STALL_MS', 50, `off, or ${MIN_STALL} to ${MAX_STALL}`, (value) => {
      const ms = switchOf(value) === false ? 0 : Number(value);
      return ms === 0 || (ms >= MIN_STALL && ms <= MAX_STALL) ? ms : undefined;
    }),
    collectionMs: read('TRACEWRIGHT_GC_MS', 1, `off, or 0 to ${MAX_STALL}`, (value) => {
      if (value.trim() !== '0' && switchOf(value) === false) return -1;
      const ms = Number(value);
      return ms >= 0 && ms <= MAX_STALL ? ms : undefined;
    }),
    ship: read<string | undefined>(
      'TRACEWRIGHT_SHIP',
      undefined,
      'a URL such as http://localhost:4318',
      (value) => (SHIPPED.test(value) ? value : undefined),
      'nothing',
    ),
    // Node's test runner prints what a test file prints.
    quiet: read(
      'TRACEWRIGHT_QUIET',
      process.env['NODE_TEST_CONTEXT'] !== undefined,
      SWITCH_VALUES,
      switchOf,
    ),
  };
}
