import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { isSdkDisabled, switchOf } from '../core/options/switch.js';

const VARIABLE = 'TRACEWRIGHT_ENABLED';

/** Whether a process that cannot be traced fails: `TRACEWRIGHT_REQUIRED`. */
export function isRequired(): boolean {
  return switchOf(process.env['TRACEWRIGHT_REQUIRED'] ?? '') === true;
}

/**
 * Programs that run other programs, or do a developer's errands. They inherit `NODE_OPTIONS` from the
 * shell, and a trace of them is of no use.
 */
const TOOLS = [
  /\/npm\/bin\/np[mx]-cli\.js$/,
  /\/pnpm\/(?:bin|dist)\/pnp[mx]\.[cm]?js$/,
  /\/yarn\/(?:bin\/|[\d.]+[^/]*\/)?yarn\.js$/,
  /\/cli-dist\/bin\/yarn\.js$/,
  /\/\.yarn\/releases\/yarn-[^/]+\.c?js$/,
  /\/corepack\/dist\/[\w-]+\.js$/,
  /\/tracewright\/dist\/cli\/main\.js$/,
  /\/tsx\/dist\/cli\.[cm]?js$/,
  /\/ts-node\/dist\/bin-esm\.js$/,
];
/** It runs the program itself, or starts a process for ES modules: its options and tsconfig.json decide. */
const TS_NODE = /\/ts-node\/dist\/bin(?:-\w+)?\.js$/;

/** The file that the process runs, without links. Package managers link to their commands. */
function programPath(): string {
  const path = process.argv[1];
  if (path === undefined) return '';
  try {
    return realpathSync(path).replaceAll('\\', '/');
  } catch {
    return path;
  }
}

function isTool(): boolean {
  const path = programPath();
  return TOOLS.some((tool) => tool.test(path)) || path === ownCommand();
}

/** The directory of the package's scripts: a checkout has any name. Undefined in a bundle, which has no `__dirname`. */
export function ownDirectory(): string | undefined {
  return typeof __dirname === 'string' ? __dirname.replace(/[\\/]node$/, '') : undefined;
}

function ownCommand(): string | undefined {
  const directory = ownDirectory()?.replaceAll('\\', '/');
  return directory && `${directory}/cli/main.js`;
}

const PRELOAD_OPTIONS = ['-r', '--require', '--import'];

/** Whether the command line of this process, rather than its environment, names what is preloaded. */
export function isPreloadedExplicitly(): boolean {
  return process.execArgv.some((argument) => PRELOAD_OPTIONS.includes(argument.split('=', 1)[0]!));
}

const OF_PM2 = /^(TRACEWRIGHT_|OTEL_|pm_exec_path$)/;

/**
 * Takes the variables that the file of pm2 sets for a process of a cluster: all are in one variable, and pm2 copies them into
 * the environment only when its own script runs.
 */
function takeVariablesOfPm2(): void {
  const { pm2_env: text } = process.env;
  if (text === undefined) return;
  try {
    const all = JSON.parse(text) as Record<string, string>;
    // Those of pm2 are texts and numbers.
    for (const name in all) if (OF_PM2.test(name)) process.env[name] = `${all[name]}`;
  } catch {
    // It is none of pm2.
  }
}

/**
 * Whether the hook traces this process: `TRACEWRIGHT_ENABLED` decides, else `OTEL_SDK_DISABLED`. Where neither is
 * set, tools such as `npm` are not traced if they have inherited the hook. Loads nothing of the package.
 */
export function isEnabled(): boolean {
  takeVariablesOfPm2();
  const wanted = switchOf(process.env[VARIABLE] ?? '');
  if (wanted !== undefined) return wanted;
  if (isSdkDisabled()) return false;
  return isPreloadedExplicitly() || !isTool();
}

/** Whether this process is a launcher that may run the program itself, later. */
export function mayRunProgram(): boolean {
  const isWanted = switchOf(process.env[VARIABLE] ?? '') !== undefined;
  return !isWanted && !isPreloadedExplicitly() && TS_NODE.test(programPath());
}

/** Node's permission model, which types do not have yet. */
interface Permission {
  has(scope: string, reference?: string): boolean;
}

/** Where traces are written unless `TRACEWRIGHT_DIR` says so. */
const DIRECTORY = 'traces';

/** Options of Node that its permission model needs for the hook, and does not have. */
export function missingPermissions(): string[] {
  const { permission } = process as { permission?: Permission };
  if (permission === undefined) return [];
  // Without the star Node allows a directory that does not exist yet, but nothing in it.
  const traces = resolve(process.env['TRACEWRIGHT_DIR'] ?? DIRECTORY, '*');
  const missing: string[] = [];
  // Nodes that do not know this scope say no: there the option is looked for.
  const isAllowed = permission.has('addon') || process.execArgv.includes('--allow-addons');
  if (!isAllowed) missing.push('--allow-addons');
  if (!permission.has('fs.read', traces)) missing.push(`--allow-fs-read=${traces}`);
  if (!permission.has('fs.write', traces)) missing.push(`--allow-fs-write=${traces}`);
  return missing;
}
