import { existsSync } from 'node:fs';
import { untilFault } from '../../core/fault.js';
import { terminalText } from '../../core/readable-text.js';
import { findTraces } from '../../traces/find-traces.js';
import { outputForms } from '../../traces/formats.js';
import { RemainingRings, Writers } from '../../traces/remaining-rings.js';
import type { TraceFormat } from '../../rows/trace-format.js';
import { UsageError, parseCommandLine } from '../command.js';
import type { Command } from '../command.js';
import {
  checkInput,
  inputFormats,
  inputHelp,
  inputOptions,
  isInputFormat,
  pathHelp,
} from '../input-options.js';
import { FaultReport } from '../output/fault-report.js';
import { ProgressLine } from '../output/progress-line.js';
import { RingReader, checkRings, ringHelp, ringOptions } from '../ring-options.js';
import { standardOutput } from '../output/text-output.js';

/** `tracewright dump`. */
export const dumpCommand: Command = {
  summary: 'print every record of a trace',
  help: `Usage: tracewright dump PATH... [--json] [--format F] [--endian E] [RINGS]
       tracewright dump PATH... --format dumpi2ascii [RINGS]
       tracewright dump REFERENCES... --kernel KERNEL [--json] [--format F]
                       [--endian E] [RINGS]

RINGS is [--no-rings | --ring-dir DIR...]

Prints every record of the traces at PATH, one per line, in the order of the
trace. Records of an ovni trace are sorted by time, across its threads. A line
that begins with # names the trace.

${pathHelp}
  --json    one JSON object per line. Integers beyond 2^53 - 1 are strings. A
            line {"kind":"trace", ...} names the trace
  --format dumpi2ascii
            the output of DUMPI's own reader with every section (\`-a\`), and
            nothing else. Times are in the time zone TZ
${inputHelp}  --kernel  also print the records of this kernel trace of Laplace, merged by
            timestamp
${ringHelp}  --help    print this text

Exit codes
  0  done
  1  something cannot be read: standard error names the file and the byte, and
     everything else was printed
  2  wrong usage, or nothing to read
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      args,
      {
        json: { type: 'boolean' },
        kernel: { type: 'string' },
        ...inputOptions,
        ...ringOptions,
      },
      ['PATH...'],
    );
    const json = values.json === true;
    const { endian, kernel } = values;
    const isInput = isInputFormat(values.format);
    const form = isInput ? undefined : checkOutputForm(values.format);
    if (json && form !== undefined) {
      throw new UsageError('--json and --format cannot be used together');
    }
    if (kernel !== undefined && !existsSync(kernel)) {
      throw new UsageError(`--kernel: ${kernel} does not exist`);
    }
    const input = checkInput({ endian, format: isInput ? values.format : undefined });
    const output = standardOutput(form === undefined ? 'utf8' : 'latin1');
    const progress = new ProgressLine(!process.stdout.isTTY);
    const reading = checkRings(values);
    const faults = new FaultReport('dump', {
      before() {
        progress.clear();
      },
    });
    const rings = new RingReader('dump', reading, faults.add);
    const found = new RemainingRings();
    for (const { format, path } of findTraces(positionals, input, { onFault: faults.add })) {
      if (kernel !== undefined && format.mergesKernel !== true) {
        throw new UsageError(
          `--kernel: ${path} is a ${format.name} trace, not a reference trace of Laplace`,
        );
      }
      const title = json
        ? JSON.stringify({ kind: 'trace', format: format.name, path })
        : `# ${format.name} trace ${path}`;
      if (form === undefined) await output.write(`${terminalText(title)}\n`);
      // With its rings a trace has its end.
      const writers = new Writers(reading.isOff ? [...found.of({ format, path })] : []);
      const isBeingWritten = (file: string): boolean => writers.write(file);
      rings.show({ format, path });
      const job = {
        onProgress: progress.of(path),
        onFault: faults.add,
        isBeingWritten,
        kernel,
      };
      const read = form === undefined ? undefined : dumpAs(form, format);
      const lines = untilFault(
        faults.add,
        path,
        () => read?.(path, job) ?? format.dump(path, json, job),
      );
      for (const line of lines) {
        let last = '';
        if (typeof line === 'string') last = line;
        else {
          for (const piece of line) {
            const full = output.write(json ? terminalText(piece) : piece);
            if (full) await full;
          }
        }
        const full = output.write(`${json ? terminalText(last) : last}\n`);
        if (full) await full;
      }
      await output.flush();
      progress.clear();
      rings.close();
    }
    await output.end();
    return faults.end();
  },
};

/** @throws UsageError for a name that is neither a format of the input nor of the output. */
function checkOutputForm(name: string | undefined): string | undefined {
  const forms = outputForms();
  if (name === undefined || forms.includes(name)) return name;
  const known = [...inputFormats, ...forms].join(', ');
  throw new UsageError(`--format must be one of ${known}, got ${JSON.stringify(name)}`);
}

/** Prints a trace as another reader of its format does. */
function dumpAs(
  form: string,
  { name, dumpFormats = {} }: TraceFormat,
): NonNullable<TraceFormat['dumpFormats']>[string] {
  const dump = Object.hasOwn(dumpFormats, form) ? dumpFormats[form] : undefined;
  if (dump !== undefined) return dump;
  const known = Object.keys(dumpFormats).join(', ');
  const limit = known === '' ? `a ${name} trace has no other form` : `use one of ${known}`;
  throw new UsageError(`--format ${JSON.stringify(form)}: ${limit}`);
}
