import type { WorkerOptions } from 'node:worker_threads';

/** Options of Node that load modules and take a value, and others that a worker may be given. */
const LOADING = /^(--import|--require|-r|--loader|--experimental-loader|--conditions|-C)(=|$)/;
const HARMLESS =
  /^--(no-)?(warnings|deprecation|enable-source-maps|trace-\w+|preserve-symlinks\S*|experimental-\S+|unhandled-rejections=\S+)$/;

/**
 * The options that a worker would inherit. Node refuses options of the whole process in a list that is
 * given, as it is here.
 */
function inheritedArguments(): string[] {
  const { execArgv } = process;
  return execArgv.filter(
    (each, i) =>
      LOADING.test(each) ||
      HARMLESS.test(each) ||
      (i > 0 && !each.startsWith('-') && LOADING.test(`${execArgv[i - 1]!}=`)),
  );
}

/** The options of a worker that loads `module` first. Options that Node refuses stay as they are. */
export function loading(module: string, options: WorkerOptions): WorkerOptions {
  const given: unknown = options.execArgv ?? inheritedArguments();
  if (!Array.isArray(given)) return options;
  return { ...options, execArgv: [...(given as string[]), '--import', module] };
}

/** The list of options that the worker's program is to see: what it would see untraced. */
export function seenArguments({ execArgv }: WorkerOptions): string[] {
  return Array.isArray(execArgv) ? execArgv.map(String) : process.execArgv;
}
