import { UsageError, parseCommandLine } from './command.js';
import type { Command } from './command.js';
import { toldEndian } from './detect.js';
import { convertToChrome } from './convert-chrome.js';
import { convertToLaplaceBinary, convertToLaplaceText } from './convert-laplace.js';
import { convertToOvni3 } from './convert-ovni3.js';

/** What a conversion is told by the command line. */
export interface ConversionRequest {
  path: string;
  out: string | undefined;
  force: boolean;
  /** Byte order of a binary trace of Laplace. */
  endian: 'little' | 'big';
}

/** Converts and returns the exit code. A further conversion is a file of its own, listed here. */
const conversions: Readonly<Record<string, (request: ConversionRequest) => Promise<number>>> = {
  chrome: convertToChrome,
  'laplace-binary': convertToLaplaceBinary,
  'laplace-text': convertToLaplaceText,
  ovni3: convertToOvni3,
};

/** `tracewright convert`. */
export const convertCommand: Command = {
  summary: 'turn a trace into another format',
  help: `Usage: tracewright convert --to ovni3 PATH OUT [--force]
       tracewright convert --to chrome PATH [OUT] [--force]
       tracewright convert --to laplace-text PATH [OUT] [--endian E] [--force]
       tracewright convert --to laplace-binary PATH [OUT] [--endian E] [--force]

Converts the traces at PATH, which is left as it is.

  --to ovni3    an ovni trace of version 1 to version 3, which today's ovniemu
                reads, in the new directory OUT
  --to chrome   traces of any format but Laplace's references to JSON that
                ui.perfetto.dev and chrome://tracing open, in the new file
                OUT; without OUT, or with -, to standard output
  --to laplace-text
                a binary reference trace of Laplace to text, what its
                raw-reference-binary-to-text does; PATH may be - for standard
                input, OUT as for chrome
  --to laplace-binary
                the same the other way round
  --endian      byte order of the binary reference trace, little (default) or
                big
  --force       replace OUT where it exists: for chrome a file, for ovni3 a
                directory that is empty or holds an ovni trace
  --help        print this

Several traces in a directory become one: each keeps its processes, and they are
lined up by their epochs. An ovni trace of another library says nothing of its
epoch: beside other traces it is moved to begin at 0, and a label on its
processes says so.

Exit code: 0 done, 1 a trace is faulty (for chrome, OUT holds what stands in
front of the fault), 2 wrong usage, or a file cannot be read or written.
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      args,
      { to: { type: 'string' }, force: { type: 'boolean' }, endian: { type: 'string' } },
      ['PATH', '[OUT]'],
    );
    const targets = Object.keys(conversions).join(', ');
    if (values.to === undefined) throw new UsageError(`--to is missing; it is one of ${targets}`);
    const convert = Object.hasOwn(conversions, values.to) ? conversions[values.to] : undefined;
    if (convert === undefined) {
      throw new UsageError(
        `cannot convert to ${JSON.stringify(values.to)}, only to one of ${targets}`,
      );
    }
    const [path, out] = positionals;
    return convert({ path: path!, out, force: values.force === true, endian: toldEndian(values) });
  },
};
