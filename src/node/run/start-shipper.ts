import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs';
import { homedir, setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import type { Settings } from '../settings.js';
import { warn } from '../warning.js';
import type { Run } from './run.js';

/** Below the service's own priority: 0. */
const LOW_PRIORITY = 10;
const PRIVATE_FILE = 0o600;
/** Variables that the shipper must not inherit: it is no traced process, and has no debugger. */
const NOT_INHERITED =
  /^(?:NODE_OPTIONS|NODE_V8_COVERAGE|NODE_CHANNEL_|NODE_UNIQUE_ID|TRACEWRIGHT_)/;

/** The paths that the shipper of a run follows: the later runs of the same name are among them. */
function pathsOf({ directory, earlier }: Run, { directory: wanted }: Settings): string[] {
  return wanted === undefined ? [dirname(directory)] : [directory, ...earlier];
}

/** One checkpoint for all runs of a name, so that a shipper that still works for an earlier one refuses a second. */
function checkpointOf(key: string): string {
  const { XDG_STATE_HOME: state } = process.env;
  const base = state?.startsWith('/') === true ? state : join(homedir(), '.local', 'state');
  const name = createHash('sha256').update(key).digest('hex').slice(0, 16);
  return join(base, 'tracewright', 'ship', `hook-${name}.json`);
}

/**
 * Starts one process that sends what the run records. It outlives the service, has none of its streams, and is no
 * part of the run.
 *
 * @param to where spans are sent. It may have a password, so that no command line has it.
 */
export function startShipper(run: Run, settings: Settings, to: string): void {
  const command = join(__dirname, '..', 'cli', 'main.js');
  if (!existsSync(command)) {
    warn(`TRACEWRIGHT_SHIP: ${command} is missing, so nothing is sent; run \`tracewright ship\``);
    return;
  }
  const paths = pathsOf(run, settings);
  const env: NodeJS.ProcessEnv = { TRACEWRIGHT_SHIP: to };
  for (const [name, value] of Object.entries(process.env)) {
    if (!NOT_INHERITED.test(name)) env[name] = value;
  }
  const ringDir = process.env['TRACEWRIGHT_RING_DIR'];
  const checkpoint = checkpointOf(`${settings.directory ?? paths[0]!}\n${to}`);
  const args = ['ship', ...paths, '--until-idle', '--checkpoint', checkpoint];
  if (ringDir !== undefined && ringDir !== '') args.push('--ring-dir', ringDir);
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const log = join(run.directory, 'ship.log');
  const output = openSync(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, PRIVATE_FILE);
  try {
    const child = spawn(process.execPath, [command, ...args], {
      cwd: '/',
      env,
      detached: true,
      stdio: ['ignore', output, output],
    });
    child.on('error', (error) => {
      warn(`TRACEWRIGHT_SHIP: nothing is sent: ${error.message}`);
    });
    child.unref();
    if (child.pid === undefined) return;
    setPriority(child.pid, LOW_PRIORITY);
    if (!settings.quiet) {
      writeSync(
        2,
        `tracewright: process ${child.pid} sends spans to ${hostOf(to)}, in some 80 MB of memory; ${log} has its messages\n`,
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
