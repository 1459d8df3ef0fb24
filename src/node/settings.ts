import { programPath } from '../core/program-path.js';
import { basename, extname } from 'node:path';
import type { Hosts } from '../core/settings/kinds.js';
import { SETTINGS } from '../core/settings/table.js';
import { PREFIX, textOf, valueOf } from '../core/settings/value-of.js';
import type { SettingName } from '../core/settings/value-of.js';
import { readLibraries } from './library-settings.js';
import { hostName } from './machine.js';
import type { ThreadSettings } from './run/process-plan.js';
import { warn } from './warning.js';

/** How a run describes itself to its child processes. */
const RUN = 'RUN';
/** A variable of OpenTelemetry that most programs set. Any value fits. */
const USUAL = 'OTEL_SERVICE_NAME';
/** Of a name that becomes part of a file's; the rest of it needs room too. */
const MAX_NAME = 80;

/** Warns of variables that are wrong or misspelt, and of those of OpenTelemetry that are not followed. */
function warnOfVariables(): void {
  if (PREFIX + RUN in process.env) return;
  let hasOthers = false;
  for (const name of Object.keys(process.env)) {
    hasOthers ||= name.startsWith('OTEL_') && name !== USUAL;
    const own = name.slice(PREFIX.length);
    if (!name.startsWith(PREFIX) || own.startsWith('TEST_')) continue;
    if (Object.hasOwn(SETTINGS, own)) {
      const { invalid } = SETTINGS[own as SettingName];
      if (invalid === undefined) valueOf(own as SettingName);
      continue;
    }
    const { didYouMean } =
      require('../core/nearest-name.js') as typeof import('../core/nearest-name.js');
    warn(`${name} is an unknown variable${didYouMean(own, Object.keys(SETTINGS), PREFIX)}`);
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

const EVERYWHERE: Hosts = { everywhere: true, hosts: [] };
const NOWHERE: Hosts = { everywhere: false, hosts: [] };

const DEFAULT_HZ = 20;

/** How many samples of a thread are taken a second; 0: none. */
function profileHz(kinds: readonly string[]): number {
  const cpu = kinds.find((kind) => kind.startsWith('cpu'));
  return cpu === undefined ? 0 : Number(cpu.slice('cpu:'.length) || DEFAULT_HZ);
}

/** Settings of what each thread observes. */
function ofThreads(): ThreadSettings {
  const profiles: readonly string[] = valueOf('PROFILE');
  const context = valueOf('CONTEXT');
  const propagation = context ? (valueOf('PROPAGATE') ?? EVERYWHERE) : NOWHERE;
  const otel = valueOf('OTEL');
  const instrumentations = valueOf('INSTRUMENTATIONS');
  const isAuto = instrumentations === undefined || /^auto$/i.test(instrumentations.join());
  return {
    requestBytes: valueOf('REQUEST_BYTES'),
    stallMs: valueOf('STALL_MS'),
    stallStacks: valueOf('STALL_STACKS'),
    profileHz: profileHz(profiles),
    profilesHeap: profiles.includes('heap'),
    collectionMs: valueOf('GC_MS'),
    context,
    propagation,
    trust: valueOf('TRUST').map((each) => each.toLowerCase()),
    libraries: readLibraries(propagation.everywhere),
    otel: otel === 'auto' ? context : otel,
    instrumentations: isAuto ? 'auto' : instrumentations,
  };
}

/** The settings of this process, as its environment has them. */
export type Settings = ReturnType<typeof readSettings>;

/** Reads the environment. */
export function readSettings() {
  warnOfVariables();
  const formats: readonly string[] = valueOf('FORMATS');
  return {
    ovni: formats.includes('ovni'),
    heph: formats.includes('heph'),
    directory: textOf('DIR'),
    hephTarget: textOf('HEPH_TARGET'),
    ovniVersion: valueOf('OVNI_VERSION') === '1' ? (1 as const) : (3 as const),
    loom: valueOf('LOOM') ?? hostName(),
    app: valueOf('APP'),
    name: fileName(textOf('NAME') ?? scriptName()),
    ship: valueOf('SHIP'),
    metrics: valueOf('METRICS'),
    // Node's test runner prints what a test file prints.
    quiet: valueOf('QUIET') ?? process.env['NODE_TEST_CONTEXT'] !== undefined,
    ofThreads: ofThreads(),
  };
}
