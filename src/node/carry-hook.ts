import * as diagnostics from 'node:diagnostics_channel';
import { join } from 'node:path';
import { warn } from './warning.js';

/** Options of Node that load a module before the program. */
const PRELOAD = /^(?:-r|--require|--import)(?:=(.*))?$/;
const OF_HOOK = /^TRACEWRIGHT_/;
/** The variable by which a process finds the run that it belongs to. */
const RUN = 'TRACEWRIGHT_RUN';

/** The modules that options of Node load before the program. */
function preloads(options: readonly string[]): string[] {
  return options.flatMap((option, index) => {
    const found = PRELOAD.exec(option);
    if (found === null) return [];
    return found[1] ?? options[index + 1] ?? [];
  });
}

const words = (options: string | undefined): string[] => options?.split(/[\s"']+/) ?? [];

/** Arguments that have loaded the hook here. Empty: the program has loaded it, and what it starts is its own affair. */
function ownPreloads(): string[] {
  return preloads([...process.execArgv, ...words(process.env['NODE_OPTIONS'])]);
}

/** Whether what the program starts has the hook by itself. */
function isLoaded(
  own: readonly string[],
  args: readonly string[],
  options: string | undefined,
): boolean {
  return preloads([...args, ...words(options)]).some((each) => own.includes(each));
}

let isWarned = false;

/** An environment without anything in it may be a sandbox: nothing is put into it. */
function warnOfSandbox(what: string): void {
  if (isWarned) return;
  isWarned = true;
  warn(
    `a ${what} with an empty environment is not part of this trace; to have it there, give it ` +
      "NODE_OPTIONS and the TRACEWRIGHT_ variables of its parent's environment",
  );
}

interface WorkerOptions {
  execArgv?: unknown;
  env?: unknown;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Options of a worker that has the hook too. */
function workerOptions(own: readonly string[], hook: string, given: unknown): unknown {
  if (!isObject(given)) return given;
  const { execArgv = process.execArgv, env } = given as WorkerOptions;
  const isOwn = isObject(env) && env !== process.env;
  if (!isOwn && execArgv === process.execArgv) return given;
  if (!Array.isArray(execArgv)) return given;
  const { NODE_OPTIONS: options } = (isOwn ? env : process.env) as NodeJS.ProcessEnv;
  if (isLoaded(own, execArgv as string[], options)) return given;
  if (isOwn && Object.keys(env).length === 0) {
    warnOfSandbox('worker');
    return given;
  }
  return { ...given, execArgv: [...(execArgv as string[]), '--require', hook] };
}

/** Has workers with arguments or an environment of their own load the hook. */
function carryToWorkers(own: readonly string[], hook: string): void {
  const threads = process.getBuiltinModule('node:worker_threads');
  threads.Worker = new Proxy(threads.Worker, {
    construct(Worker, [file, given, ...further]: unknown[], made) {
      const options = workerOptions(own, hook, given);
      const make = (each: unknown): object =>
        Reflect.construct(Worker, [file, each, ...further], made) as object;
      if (options === given) return make(given);
      try {
        return make(options);
      } catch {
        // Inherited arguments may be some that a worker cannot be given.
        return make(given);
      }
    },
  });
  process.getBuiltinModule('node:module').syncBuiltinESMExports();
}

/** Options that `fork` gives the class of child processes. */
interface SpawnOptions {
  file?: unknown;
  args?: unknown;
  envPairs?: unknown;
  stdio?: unknown;
}

interface Child {
  spawn: (this: Child, options: SpawnOptions) => unknown;
}

const isChannel = (each: unknown): boolean =>
  each === 'ipc' || (isObject(each) && (each as { type?: unknown }).type === 'ipc');

function carryToChild(own: readonly string[], hook: string, options: SpawnOptions): void {
  const { file, args, envPairs, stdio } = options;
  // Of another program than this Node nothing is known.
  if (file !== process.execPath || !Array.isArray(stdio) || !stdio.some(isChannel)) return;
  if (!Array.isArray(args) || !Array.isArray(envPairs)) return;
  const pairs = envPairs as string[];
  const valueOf = (name: string): string | undefined =>
    pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
  const loads = isLoaded(own, args as string[], valueOf('NODE_OPTIONS'));
  if (loads && valueOf(RUN) !== undefined) return;
  if (pairs.length === 0) {
    warnOfSandbox('child process');
    return;
  }
  if (!loads) args.splice(1, 0, '--require', hook);
  for (const [name, value = ''] of Object.entries(process.env)) {
    if (OF_HOOK.test(name) && valueOf(name) === undefined) pairs.push(`${name}=${value}`);
  }
}

/**
 * Has workers and processes of `fork` load the hook and join this run, where the program gives them arguments or an
 * environment of their own. Others inherit both.
 */
export function carryHook(): void {
  const own = ownPreloads();
  if (own.length === 0 || typeof __dirname !== 'string') return;
  const hook = join(__dirname, 'register.js');
  carryToWorkers(own, hook);
  diagnostics.subscribe('child_process', (message) => {
    try {
      const child = (message as { process?: Child }).process;
      const { spawn } = child ?? {};
      if (child === undefined || typeof spawn !== 'function') return;
      child.spawn = function (options) {
        delete (this as Partial<Child>).spawn;
        try {
          carryToChild(own, hook, options);
        } catch {
          // It starts as it is.
        }
        return spawn.call(this, options);
      };
    } catch {
      // No message of Node's.
    }
  });
}
