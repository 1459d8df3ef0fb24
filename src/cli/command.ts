import { parseArgs, type ParseArgsConfig } from 'node:util';
import { didYouMean } from '../core/nearest-name.js';
import { terminalText } from '../core/readable-text.js';

/** Exit codes of the command. */
export const EXIT_DONE = 0;
/** Something of the traces cannot be read; everything else was. */
export const EXIT_FAULTY = 1;
/** The command line is wrong, or a file cannot be read or written. */
export const EXIT_USAGE = 2;
/** A condition of the command line holds that is a failure. */
export const EXIT_FAILED = 3;

/** A subcommand: one file in commands/, listed in main.ts. */
export interface Command {
  /** Its line in the list of commands. */
  summary: string;
  /** Printed by `--help`. */
  help: string;
  /** @param args the arguments that follow its name. @returns the exit code. */
  run(args: string[]): Promise<number>;
}

/** An error that the user can correct: printed without a stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Options = NonNullable<ParseArgsConfig['options']>;

/** Options by name, and positional arguments. */
type CommandLine<T extends Options> = ReturnType<
  typeof parseArgs<{ options: T; allowPositionals: true; strict: true }>
>;

/** Values of options on a command line. */
export type ValuesOf<T extends Options> = {
  [Name in keyof CommandLine<T>['values']]?: CommandLine<T>['values'][Name] | undefined;
};

/**
 * Splits a command line into options and positional arguments.
 *
 * @param names of the positional arguments, in capitals. One in brackets is optional, one that ends
 *   in `...` can be repeated.
 * @throws UsageError for an unknown option, and for too few or too many positional arguments.
 */
export function parseCommandLine<T extends Options>(
  args: string[],
  options: T,
  names: string[],
): CommandLine<T> {
  const parsed = parse(args, options);
  const { positionals } = parsed;
  const required = names.filter((name) => !name.startsWith('[')).length;
  if (positionals.length < required) {
    throw new UsageError(`${names[positionals.length]!.replace('...', '')} is missing`);
  }
  const most = names.at(-1)?.endsWith('...') === true ? Infinity : names.length;
  if (positionals.length > most) {
    throw new UsageError(`unexpected argument ${JSON.stringify(positionals[names.length])}`);
  }
  return parsed;
}

function parse<T extends Options>(args: string[], options: T): CommandLine<T> {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string };
    if (!code.startsWith('ERR_PARSE_ARGS')) throw error;
    // The second sentence is about arguments that begin with '-', which no subcommand takes.
    const sentence = message.split(/[.\n]/, 1)[0]!;
    const unknown = /^Unknown option '--([^'=]+)/.exec(sentence)?.[1];
    const hint = unknown === undefined ? '' : didYouMean(unknown, Object.keys(options), '--');
    throw new UsageError(sentence.charAt(0).toLowerCase() + sentence.slice(1) + hint);
  }
}

/** Prints one line on standard error. Control characters in it, for instance in names, are escaped. */
export function printMessage(text: string): void {
  process.stderr.write(`${terminalText(text)}\n`);
}
