import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';

/** Exit codes of the command. */
export const EXIT_DONE = 0;
/** The trace is not acceptable, or faulty. */
export const EXIT_FAULTY = 1;
/** The command line is wrong, or a file cannot be read or written. */
export const EXIT_USAGE = 2;

/** One subcommand: a file of its own, listed in main.ts. */
export interface Command {
  /** What stands beside its name in the list of commands. */
  summary: string;
  /** What `--help` prints. */
  help: string;
  /** Takes what follows the name; returns the exit code. */
  run(args: string[]): Promise<number>;
}

/** Something that the user has to put right: printed as one sentence, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Options = NonNullable<ParseArgsConfig['options']>;

/** Options by name, and what stands between them. */
export type CommandLine<T extends Options> = ReturnType<
  typeof parseArgs<{ options: T; allowPositionals: true; strict: true }>
>;

/**
 * Splits a command line into options and positionals.
 *
 * @param names What the positionals are, in capitals; one in brackets may be left out, and one that
 * ends in `...` may come more than once.
 * @throws UsageError for options that the command does not have and for too few or many positionals.
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
    // The first sentence; what follows is about programs that take arguments beginning with '-'.
    const sentence = message.split(/[.\n]/, 1)[0]!;
    throw new UsageError(sentence.charAt(0).toLowerCase() + sentence.slice(1));
  }
}
