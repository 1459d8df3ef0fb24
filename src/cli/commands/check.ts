import { counted, terminalText } from '../../core/readable-text.js';
import type { Finding } from '../../core/finding.js';
import { TraceChecker } from '../../traces/check-found.js';
import { findTraces } from '../../traces/find-traces.js';
import { EXIT_FAULTY, parseCommandLine } from '../command.js';
import type { Command } from '../command.js';
import { checkInput, inputHelp, inputOptions, pathHelp } from '../input-options.js';
import { FaultReport } from '../output/fault-report.js';
import { ProgressLine } from '../output/progress-line.js';
import { ClosedPipe, standardOutput } from '../output/text-output.js';

/** `tracewright check`. */
export const checkCommand: Command = {
  summary: "report whether the format's own reader accepts a trace",
  help: `Usage: tracewright check PATH... [--rings] [--ring-dir DIR] [--json]
                        [--format F] [--endian E]

Reports what is wrong with the traces at PATH. An error is what the format's
own reader rejects, or what the other commands cannot read. A warning is what
it accepts although something is wrong. What only Heph's own converter to Chrome
JSON cannot read is one note for all traces, and a warning each with --json. The
first 20 findings of each rule are printed, the others are counted. What a live
process has not finished writing is not checked.

${pathHelp}
  --json    one JSON object for each finding: severity, rule, message, path,
            offset
  --rings   check the traces as their rings complete them: a trace of a process
            that was killed as recover would leave it. Nothing is changed
  --ring-dir DIR
            the same, with rings from this directory; can be repeated
${inputHelp}  --help    print this text

Exit codes
  0  acceptable, possibly with warnings
  1  not acceptable
  2  wrong usage, or nothing to read
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      args,
      {
        json: { type: 'boolean' },
        rings: { type: 'boolean' },
        'ring-dir': { type: 'string', multiple: true },
        ...inputOptions,
      },
      ['PATH...'],
    );
    const json = values.json === true;
    const output = standardOutput();
    const progress = new ProgressLine();
    const faults = new FaultReport('check');
    const traces = findTraces(positionals, checkInput(values), { onFault: faults.add });
    const { 'ring-dir': ringDirs } = values;
    const checker = new TraceChecker(ringDirs ?? (values.rings === true ? [] : undefined));
    const counts = { error: 0, warning: 0 };
    const notConverted = new Set<string>();
    const toRecover = new Set<string>();
    const print = async (line: string): Promise<void> => {
      progress.clear();
      await output.write(`${terminalText(line)}\n`)?.catch(ignoreClosedPipe);
    };
    for (const trace of traces) {
      const before = counts.error;
      const { writers, findings } = checker.check(trace, { onProgress: progress.of(trace.path) });
      for (const finding of findings) {
        if (!json && finding.rule.startsWith(CONVERTER_RULES)) {
          notConverted.add(finding.path);
          continue;
        }
        if (finding.rule === 'ring-left') toRecover.add(trace.path);
        counts[finding.severity]++;
        await print(json ? JSON.stringify(finding) : lineOf(finding));
      }
      if (!json) {
        const isAcceptable = counts.error === before;
        const soFar = writers.pids.length === 0 ? '' : ' so far, still being written';
        const verdict = isAcceptable ? `acceptable${soFar}` : 'not acceptable';
        await print(`${trace.path}: ${verdict} (${trace.format.name})`);
      }
    }
    progress.clear();
    if (!json) {
      if (notConverted.size > 0) await print(converterNote(notConverted.size));
      await print(
        `${counted(counts.error, 'error')}, ${counted(counts.warning, 'warning')}` +
          recoverNote(toRecover.size, positionals),
      );
    }
    await output.end().catch(ignoreClosedPipe);
    return counts.error === 0 ? faults.end() : EXIT_FAULTY;
  },
};

/** Rules whose findings are right by the format: nearly every trace of the hook has some of it. */
const CONVERTER_RULES = 'converter-';

function converterNote(count: number): string {
  const files = counted(count, 'Heph file is', 'Heph files are');
  const it = count === 1 ? 'it' : 'them';
  return (
    `note: ${files} valid, but Heph's own converter to Chrome JSON cannot read ${it}: ` +
    'use `tracewright convert --to perfetto` instead; --json says why'
  );
}

/** Says how to recover rings of killed processes. */
function recoverNote(count: number, paths: readonly string[]): string {
  if (count === 0) return '';
  const traces = counted(count, 'trace of a killed process', 'traces of killed processes');
  return `; \`tracewright recover ${paths.join(' ')}\` completes ${traces}`;
}

/** The exit code is still wanted when nobody reads the output. */
function ignoreClosedPipe(error: unknown): void {
  if (!(error instanceof ClosedPipe)) throw error;
}

function lineOf({ severity, rule, message, path, offset }: Finding): string {
  const where = offset === undefined ? path : `${path}, byte ${offset}`;
  return `${severity} ${rule}: ${where}: ${message}`;
}
