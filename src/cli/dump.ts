import { existsSync } from 'node:fs';
import { TracewrightError } from '../core/errors.js';
import { terminalText } from '../core/terminal-text.js';
import { EXIT_DONE, EXIT_FAULTY, UsageError, parseCommandLine } from './command.js';
import type { Command } from './command.js';
import { findTraces, isToldFormat, toldHelp, toldOptions } from './detect.js';
import { warnOfRings } from './left-rings.js';
import { ProgressLine } from './progress.js';
import { tell } from './tell.js';
import { standardOutput } from './text-output.js';
import type { TraceFormat } from './trace-format.js';

/** `tracewright dump`. */
export const dumpCommand: Command = {
  summary: 'print every record of a trace',
  help: `Usage: tracewright dump PATH... [--json]
       tracewright dump PATH... --format dumpi2ascii
       tracewright dump REFERENCES... --kernel KERNEL [--format F] [--endian E]

Prints every record of the traces at PATH, one a line, in the order in which
they stand in the trace; the threads of an ovni trace together, by their clocks.
A line that begins with # names the trace.

PATH is a Heph file, an ovni trace directory, a DUMPI file or metafile, a
reference or kernel trace of Laplace, or a directory that holds such traces; of
a Heph trace that rotates, also the name under which it was opened.

  --json    one JSON object a line; 64-bit integers beyond 2^53 - 1 are strings,
            and a line {"kind":"trace", ...} names the trace
  --format dumpi2ascii
            what DUMPI's own reader prints with every section (\`-a\`), and
            nothing else, in the time zone of TZ
${toldHelp}  --kernel  puts the records of this kernel trace of Laplace between the
            references, by timestamp
  --help    print this

Exit code: 0 done, 1 a trace is faulty (what stands in front of the fault has
been printed), 2 wrong usage or nothing to read.
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      args,
      { json: { type: 'boolean' }, kernel: { type: 'string' }, ...toldOptions },
      ['PATH...'],
    );
    const json = values.json === true;
    const { endian, kernel } = values;
    const isInput = values.format !== undefined && isToldFormat(values.format);
    const form = isInput ? undefined : values.format;
    if (json && form !== undefined) throw new UsageError('--json and --format exclude each other');
    if (kernel !== undefined && !existsSync(kernel)) {
      throw new UsageError(`--kernel: there is no ${kernel}`);
    }
    const output = standardOutput(form === undefined ? 'utf8' : 'latin1');
    const progress = new ProgressLine(!process.stdout.isTTY);
    let exitCode = EXIT_DONE;
    for (const { format, path } of findTraces(positionals, {
      format: isInput ? values.format : undefined,
      endian,
    })) {
      if (kernel !== undefined && format.interleavesKernel !== true) {
        throw new UsageError(
          `--kernel: ${path} is a trace of ${format.name}, which has no kernel's`,
        );
      }
      const title = json
        ? JSON.stringify({ kind: 'trace', format: format.name, path })
        : `# ${format.name} trace ${path}`;
      if (form === undefined) await output.write(`${terminalText(title)}\n`);
      const job = { onProgress: progress.of(path), kernel };
      const lines =
        form === undefined ? format.dump(path, json, job) : dumpAs(form, format)(path, job);
      try {
        for (const line of lines) {
          const full = output.write(`${json ? terminalText(line) : line}\n`);
          if (full) await full;
        }
      } catch (error) {
        if (!(error instanceof TracewrightError)) throw error;
        await output.flush();
        progress.clear();
        tell(`tracewright dump: ${error.message}`);
        exitCode = EXIT_FAULTY;
      }
      progress.clear();
      warnOfRings('dump', path);
    }
    await output.end();
    return exitCode;
  },
};

/** How to print a trace in another reader's form. */
function dumpAs(
  form: string,
  { name, dumpFormats = {} }: TraceFormat,
): NonNullable<TraceFormat['dumpFormats']>[string] {
  const dump = Object.hasOwn(dumpFormats, form) ? dumpFormats[form] : undefined;
  if (dump !== undefined) return dump;
  const known = Object.keys(dumpFormats).join(', ');
  const have = known === '' ? 'has no other form' : `can be printed as ${known}`;
  throw new UsageError(`--format ${JSON.stringify(form)}: a trace of ${name} ${have}`);
}
