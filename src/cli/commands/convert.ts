import { UsageError, parseCommandLine } from '../command.js';
import type { Command } from '../command.js';
import { convertToChrome } from '../conversions/chrome.js';
import { convertToLaplaceBinary, convertToLaplaceText } from '../conversions/laplace.js';
import { convertToOvni3 } from '../conversions/ovni3.js';
import type { ConversionRequest } from '../conversions/request.js';
import { checkEndian } from '../input-options.js';

/** Each converts and returns the exit code. Each is one file in conversions/. */
const conversions: Readonly<Record<string, (request: ConversionRequest) => Promise<number>>> = {
  chrome: convertToChrome,
  'laplace-binary': convertToLaplaceBinary,
  'laplace-text': convertToLaplaceText,
  ovni3: convertToOvni3,
};

/** `tracewright convert`. */
export const convertCommand: Command = {
  summary: 'convert a trace to another format',
  help: `Usage: tracewright convert --to chrome PATH [OUT] [--force]
       tracewright convert --to ovni3 PATH OUT [--force]
       tracewright convert --to laplace-text PATH [OUT] [--endian E] [--force]
       tracewright convert --to laplace-binary PATH [OUT] [--endian E] [--force]

Converts the traces at PATH. The traces themselves do not change.

  --to chrome   JSON for ui.perfetto.dev and chrome://tracing, from traces of
                every format except Laplace's references. OUT is a new file.
                Without OUT, or with -, the result goes to standard output
  --to ovni3    an ovni trace of version 3, which today's ovniemu reads, from
                one of version 1. OUT is a new directory
  --to laplace-text
                a reference trace as text, from a binary one, like Laplace's
                raw-reference-binary-to-text. PATH can be - for standard input.
                OUT is as for chrome
  --to laplace-binary
                a binary reference trace, from text
  --endian      byte order of the binary reference trace: little (default) or
                big
  --force       replace OUT if it exists. For ovni3, OUT must be a directory
                that is empty or contains an ovni trace
  --help        print this text

With --to chrome, several traces in a directory become one. Each keeps its own
processes. Their time lines are aligned by their epochs. An ovni trace of
another library has no epoch: next to other traces it starts at time 0, and a
label on its processes says so.

Exit codes
  0  done
  1  a trace is faulty; for chrome, OUT contains everything before the fault
  2  wrong usage, or a file cannot be read or written
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      args,
      { to: { type: 'string' }, force: { type: 'boolean' }, endian: { type: 'string' } },
      ['PATH', '[OUT]'],
    );
    const targets = Object.keys(conversions).join(', ');
    if (values.to === undefined) throw new UsageError(`--to is missing; use one of ${targets}`);
    const convert = Object.hasOwn(conversions, values.to) ? conversions[values.to] : undefined;
    if (convert === undefined) {
      throw new UsageError(`cannot convert to ${JSON.stringify(values.to)}; use one of ${targets}`);
    }
    const [path, out] = positionals;
    return convert({ path: path!, out, force: values.force === true, endian: checkEndian(values) });
  },
};
