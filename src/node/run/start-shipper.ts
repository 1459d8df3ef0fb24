import { spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { statePath } from '../../core/files/state-path.js';
import type { Settings } from '../settings.js';
import { warn } from '../warning.js';
import { isRun } from './run.js';
import type { Run } from './run.js';

/** Below the service's own priority: 0. */
const LOW_PRIORITY = 10;
const PRIVATE_FILE = 0o600;
/** It shares the memory of the service: garbage is collected early, which costs it CPU time. */
const SMALL_HEAP = '--max-semi-space-size=2';
/** glibc gives each thread memory of its own, and keeps what it has freed. */
const FEW_ARENAS = { MALLOC_ARENA_MAX: '2' };
/** Variables that the shipper must not inherit: it is no traced process, and has no debugger. */
const NOT_INHERITED =
  /^(?:NODE_OPTIONS|NODE_V8_COVERAGE|NODE_CHANNEL_|NODE_UNIQUE_ID|TRACEWRIGHT_)/;

/** The budget of a trace that is sent, unless one is set: files are a buffer then. */
const SHIPPED_BYTES = String(2 ** 30);

/** Of processes that a test runner has started: Node's, Jest and Vitest. */
const TEST_VARIABLES = ['NODE_TEST_CONTEXT', 'JEST_WORKER_ID', 'VITEST'];

/** Sends the spans of a run, from a process next to it. */
export interface Sender {
  /** Where they are sent, within a budget. It may have a password, so that no command line has it. */
  to: string | undefined;
  /** Where metrics of them are served. */
  metrics: string | undefined;
}

/** The sender of this process's run; undefined: none is wanted, or a test runner started it. */
export function senderOf({ ship: to, metrics, heph, hephTarget }: Settings): Sender | undefined {
  if (TEST_VARIABLES.some((name) => process.env[name] !== undefined)) return undefined;
  const variable = to === undefined ? 'TRACEWRIGHT_METRICS' : 'TRACEWRIGHT_SHIP';
  if ((process as { permission?: unknown }).permission !== undefined) {
    warn(
      `${variable}: no process is started under --permission; run \`tracewright ship\` next to the service`,
    );
    return undefined;
  }
  if (heph && hephTarget === undefined) {
    if (to !== undefined) process.env['TRACEWRIGHT_MAX_BYTES'] ??= SHIPPED_BYTES;
    return { to, metrics };
  }
  warn(`${variable}: only a Heph trace in the directory of the run is read`);
  return undefined;
}

/** The paths that the shipper of a run follows: the later runs of the same name are among them. */
function pathsOf({ directory, earlier }: Run, { directory: wanted }: Settings): string[] {
  return wanted === undefined ? [dirname(directory)] : [directory, ...earlier.filter(isRun)];
}

/**
 * Starts one process that sends what the run records. It outlives the service, has none of its streams, and is no
 * part of the run.
 */
export function startShipper(run: Run, settings: Settings, { to, metrics }: Sender): void {
  const command = join(__dirname, '..', 'cli', 'main.js');
  if (!existsSync(command)) {
    warn(`${command} is missing, so nothing is sent; run \`tracewright ship\``);
    return;
  }
  // Metrics alone are those of this run: a sender that counted earlier ones again would be wrong.
  const paths = to === undefined ? [run.directory] : pathsOf(run, settings);
  const env: NodeJS.ProcessEnv = {
    ...FEW_ARENAS,
    ...(to !== undefined && { TRACEWRIGHT_SHIP: to }),
  };
  for (const [name, value] of Object.entries(process.env)) {
    if (!NOT_INHERITED.test(name)) env[name] = value;
  }
  const ringDir = process.env['TRACEWRIGHT_RING_DIR'];
  // One for all runs of a name: a shipper that still works for an earlier one refuses a second.
  const checkpoint =
    to === undefined
      ? join(run.directory, 'metrics.json')
      : statePath('ship', `${settings.directory ?? paths[0]!}\n${to}`, 'hook-');
  const args = ['ship', ...paths, '--until-idle', '--checkpoint', checkpoint];
  if (metrics !== undefined) {
    args.push('--metrics', metrics, to === undefined ? '--metrics-only' : '--span-metrics');
  }
  if (ringDir !== undefined && ringDir !== '') args.push('--ring-dir', ringDir);
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const log = join(run.directory, 'ship.log');
  const output = openSync(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, PRIVATE_FILE);
  try {
    const child = spawn(process.execPath, [SMALL_HEAP, command, ...args], {
      cwd: '/',
      env,
      detached: true,
      stdio: ['ignore', output, output],
    });
    child.on('error', (error) => {
      warn(`nothing is sent: ${error.message}`);
    });
    child.unref();
    if (child.pid === undefined) return;
    setPriority(child.pid, LOW_PRIORITY);
    if (!settings.quiet) {
      const what = [
        ...(to === undefined ? [] : [`sends spans to ${hostOf(to)}`]),
        ...(metrics === undefined ? [] : [`serves metrics at ${metrics}`]),
      ];
      writeSync(
        2,
        `tracewright: process ${child.pid} ${what.join(' and ')}, in 60 to 100 MB of memory; ${log} has its messages\n`,
      );
    }
  } finally {
    closeSync(output);
  }
}

/** A target without user, password, path and query. */
function hostOf(to: string): string {
  const { protocol, host, pathname } = new URL(to);
  return `${protocol}//${host === '' ? pathname : host}`;
}
