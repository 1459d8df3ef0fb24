import type { Finding } from '../core/finding.js';
import { EXIT_DONE, EXIT_FAULTY, UsageError, parseCommandLine } from './command.js';
import type { Command } from './command.js';
import { counted } from '../core/counted.js';
import { TraceFormatError, TracewrightError } from '../core/errors.js';
import { terminalText } from '../core/terminal-text.js';
import { findTraces, toldHelp, toldOptions } from './detect.js';
import type { FoundTrace } from './detect.js';
import { ringFindings } from './left-rings.js';
import { ProgressLine } from './progress.js';
import type { JobOptions } from './trace-format.js';
import { ClosedPipe, standardOutput } from './text-output.js';

/** `tracewright check`. */
export const checkCommand: Command = {
  summary: "tell whether a trace's own reader accepts it",
  help: `Usage: tracewright check PATH... [--json] [--format F] [--endian E]

Tells what is wrong with the traces at PATH: errors, which the format's own
reader refuses, and warnings, which it accepts although something is amiss.
Of one rule the first 20 findings are printed and the others counted.

PATH is a Heph file, an ovni trace directory, a DUMPI file or metafile, a
reference or kernel trace of Laplace, or a directory that holds such traces; of
a Heph trace that rotates, also the name under which it was opened.

  --json    one JSON object a finding: severity, rule, message, path, offset
${toldHelp}  --help    print this

Exit code: 0 acceptable (there may be warnings), 1 not acceptable, 2 wrong usage
or nothing to read.
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      args,
      { json: { type: 'boolean' }, ...toldOptions },
      ['PATH...'],
    );
    const json = values.json === true;
    const traces = findTraces(positionals, values);
    const output = standardOutput();
    const progress = new ProgressLine();
    const counts = { error: 0, warning: 0 };
    const print = async (line: string): Promise<void> => {
      progress.clear();
      await output.write(`${terminalText(line)}\n`)?.catch(unlessClosed);
    };
    for (const trace of traces) {
      const before = counts.error;
      for (const finding of findings(trace, { onProgress: progress.of(trace.path) })) {
        counts[finding.severity]++;
        await print(json ? JSON.stringify(finding) : line(finding));
      }
      if (!json) {
        const verdict = counts.error === before ? 'acceptable' : 'not acceptable';
        await print(`${trace.path}: ${verdict} (${trace.format.name})`);
      }
    }
    progress.clear();
    if (!json)
      await print(`${counted(counts.error, 'error')}, ${counted(counts.warning, 'warning')}`);
    await output.end().catch(unlessClosed);
    return counts.error === 0 ? EXIT_DONE : EXIT_FAULTY;
  },
};

/** The findings; a trace that is too broken to be checked has that as its one error. */
function* findings({ format, path }: FoundTrace, options: JobOptions): Iterable<Finding> {
  try {
    yield* format.check(path, options);
    yield* ringFindings(path);
  } catch (error) {
    if (error instanceof TraceFormatError) {
      const { fault, offset } = error;
      yield { severity: 'error', rule: 'unreadable', message: fault, path: error.path, offset };
    } else if (error instanceof TracewrightError) {
      throw new UsageError(error.message);
    } else {
      throw error;
    }
  }
}

/** Nobody may be reading any more, but the exit code is still wanted. */
function unlessClosed(error: unknown): void {
  if (!(error instanceof ClosedPipe)) throw error;
}

function line({ severity, rule, message, path, offset }: Finding): string {
  const place = offset === undefined ? path : `${path}, byte ${offset}`;
  return `${severity} ${rule}: ${place}: ${message}`;
}
