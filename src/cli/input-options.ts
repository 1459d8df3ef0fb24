import { oneOf } from '../core/options/argument.js';
import { TracewrightError } from '../core/errors.js';
import type { Endian } from '../laplace/layout.js';
import type { InputForm } from '../traces/find-traces.js';
import { UsageError } from './command.js';
import type { ValuesOf } from './command.js';

/** Options of every subcommand that reads traces. */
export const inputOptions = {
  format: { type: 'string' },
  endian: { type: 'string' },
} as const;

/** Their values on the command line. */
type InputValues = ValuesOf<typeof inputOptions>;

/** Formats that `--format` can name for the input. */
export const inputFormats = ['laplace-binary', 'laplace-text', 'laplace-kernel'] as const;

/** Lines of a help text about these options. */
export const inputHelp = `  --format  what PATH is, if nothing in it says so: ${inputFormats[0]},
            ${inputFormats[1]} or ${inputFormats[2]}
  --endian  byte order of a binary Laplace trace: little (default) or big
`;

/** The part of a help text about PATH. */
export const pathHelp = `PATH is one of
  - a Heph file, or the name under which a trace that rotates was opened,
  - an ovni trace directory,
  - a DUMPI file or metafile,
  - a reference or kernel trace of Laplace,
  - a directory with such traces in it.
`;

/** Whether `--format` says what the input is; some subcommands also take forms of output. */
export function isInputFormat(name: string | undefined): boolean {
  return inputFormats.some((format) => format === name);
}

function checkWord<T extends string>(option: string, value: string, words: readonly T[]): T {
  try {
    return oneOf(option, value, words);
  } catch (error) {
    throw error instanceof TracewrightError ? new UsageError(error.message) : error;
  }
}

/** @throws UsageError for an unknown byte order. */
export function checkEndian({ endian = 'little' }: InputValues): Endian {
  return checkWord('--endian', endian, ['little', 'big']);
}

/** @throws UsageError for an unknown format or byte order. */
export function checkInput(values: InputValues): InputForm {
  const { format } = values;
  return {
    format: format === undefined ? undefined : checkWord('--format', format, inputFormats),
    endian: checkEndian(values),
  };
}
