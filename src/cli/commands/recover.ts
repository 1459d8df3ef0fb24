import { existsSync } from 'node:fs';
import { counted, terminalText } from '../../core/readable-text.js';
import { TracewrightError } from '../../core/errors.js';
import { nothingToRecover } from '../../core/recovery/recovery.js';
import type { RecoveredStream, Recovery } from '../../core/recovery/recovery.js';
import type { TraceFormat } from '../../rows/trace-format.js';
import { findTraces } from '../../traces/find-traces.js';
import type { FoundTrace } from '../../traces/find-traces.js';
import { RemainingRings } from '../../traces/remaining-rings.js';
import {
  type Command,
  EXIT_DONE,
  EXIT_FAULTY,
  EXIT_USAGE,
  parseCommandLine,
  printMessage,
} from '../command.js';
import { checkInput, inputHelp, inputOptions, pathHelp } from '../input-options.js';
import { FaultReport } from '../output/fault-report.js';
import { standardOutput } from '../output/text-output.js';

/** `tracewright recover`. */
export const recoverCommand: Command = {
  summary: 'complete the traces of a process that was killed',
  help: `Usage: tracewright recover PATH... [--ring-dir DIR] [--json] [--format F]
                          [--endian E]

Completes the traces at PATH if their process is dead. Events that were
recorded but had not reached the trace are written. Threads and marks that were
open get their end. The rings are removed. You can interrupt a recovery and
repeat it. A trace is left unchanged if its process is alive, or if one of its
rings cannot be read.

${pathHelp}
  --ring-dir DIR  the directory of the rings, if the process kept them there
  --json          one JSON object for each trace: what was done
${inputHelp}  --help    print this text

Exit codes
  0  done, or nothing to do and a reader opens the trace
  1  something could not be recovered, or is lost
  2  wrong usage, or the process is alive
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      args,
      { 'ring-dir': { type: 'string' }, json: { type: 'boolean' }, ...inputOptions },
      ['PATH...'],
    );
    const ringDir = values['ring-dir'];
    const output = standardOutput();
    let exitCode = EXIT_DONE;
    const ignoredRings = new Set<string>();
    let firstIgnored: TracewrightError | undefined;
    const rings = new RemainingRings();
    const search = new FaultReport('recover');
    const options = { withoutFile: true, onFault: search.add };
    for (const trace of findTraces(positionals, checkInput(values), options)) {
      const { format, path } = trace;
      const isWhole =
        ringDir === undefined && format.rings.areAllThereIs === true && !rings.wereNextTo(trace);
      let result: Recovery;
      try {
        // Recovery itself would read the directory again for each of its traces.
        result = isWhole ? nothingToRecover() : format.recover(path, { ringDir });
      } catch (error) {
        if (!(error instanceof TracewrightError)) throw error;
        // The other traces may belong to dead processes.
        printMessage(`tracewright recover: ${error.message}`);
        exitCode = error.code === 'ERR_ORDER' ? EXIT_USAGE : Math.max(exitCode, EXIT_FAULTY);
        continue;
      }
      const { faults, ignored = [], ignoredOfTrace = [], ...done } = result;
      for (const { value } of ignored) ignoredRings.add(String(value));
      firstIgnored ??= ignored[0];
      const nothingDone = result.streams.length + result.emptied.length === 0;
      if (nothingDone && result.faults.length === 0) result.faults.push(...faultsOf(trace, rings));
      if (nothingDone && ignoredOfTrace.length > 0) exitCode = Math.max(exitCode, EXIT_FAULTY);
      if (result.faults.length > 0) exitCode = Math.max(exitCode, EXIT_FAULTY);
      if (result.streams.some(({ lostRing }) => lostRing !== undefined)) {
        exitCode = Math.max(exitCode, EXIT_FAULTY);
      }
      if (result.faults.some(isOfLiveProcess)) exitCode = EXIT_USAGE;
      if (values.json === true) {
        const texts = (errors: readonly TracewrightError[]) => errors.map(({ message }) => message);
        const report = {
          path,
          ...done,
          faults: texts(faults),
          ignored: texts(ignored),
          ignoredOfTrace: texts(ignoredOfTrace),
        };
        await output.write(`${terminalText(JSON.stringify(report))}\n`);
        continue;
      }
      for (const fault of result.faults)
        await output.write(`fault: ${terminalText(fault.message)}\n`);
      const parts = summary(result, format);
      if (ignoredOfTrace.length > 0) {
        parts.push(`${counted(ignoredOfTrace.length, 'ring')} of it ignored`);
      }
      const isIncomplete = result.faults.length + ignoredOfTrace.length > 0;
      if (nothingDone) parts.unshift(isIncomplete ? 'not recovered' : 'nothing to recover');
      const text = parts.join(', ');
      await output.write(`${terminalText(path)}: ${text} (${format.name})\n`);
    }
    await output.end();
    if (firstIgnored !== undefined) {
      const others = ignoredRings.size - 1;
      const more = others === 0 ? '' : `, and so ${others === 1 ? 'is' : 'are'} ${others} more`;
      printMessage(`tracewright recover: ${firstIgnored.message}${more}`);
    }
    return Math.max(exitCode, search.end());
  },
};

/** Why no reader opens a trace of which there was nothing to recover. */
function faultsOf({ format, path }: FoundTrace, rings: RemainingRings): TracewrightError[] {
  if (!existsSync(path)) return [];
  try {
    format.open(path);
    format.checkEnd?.(path);
    return [];
  } catch (error) {
    // That of a live process may have its rings elsewhere.
    if ([...rings.of({ format, path })].some(({ writer }) => writer !== undefined)) return [];
    if (error instanceof TracewrightError) return [error];
    throw error;
  }
}

/** Whether the process that writes a part of the trace, such as one rank of a run, is alive. */
function isOfLiveProcess({ code, field }: TracewrightError): boolean {
  return code === 'ERR_ORDER' && field === 'pid';
}

/** Says what was done; empty if nothing was. */
function summary(
  { streams, emptied, dropped = 0 }: Recovery,
  { openThing }: TraceFormat,
): string[] {
  const sum = (of: (stream: RecoveredStream) => number | undefined): number =>
    streams.reduce((total, stream) => total + (of(stream) ?? 0), 0);
  const parts = [];
  if (streams.length > 0) {
    const bytes = counted(
      sum((stream) => stream.bytes),
      'byte',
    );
    parts.push(`${counted(streams.length, 'stream')} completed: ${bytes} from the rings`);
    const added = sum((stream) => stream.addedRecords);
    const marks = sum((stream) => stream.endedMarks);
    const ofMarks = marks === 0 ? '' : ` (${marks} of them pop marks)`;
    if (added > 0 && openThing !== undefined) {
      const were = added === 1 ? 'was' : 'were';
      parts.push(`${counted(added, openThing)} ${were} open when the process died`);
    } else if (added > 0) {
      parts.push(`${counted(added, 'record')} added to end what was open${ofMarks}`);
    }
    const cut = sum((stream) => stream.cutBytes);
    if (cut > 0) parts.push(`${counted(cut, 'byte')} of an incomplete record cut off`);
    const lost = streams.filter(({ lostRing }) => lostRing !== undefined).length;
    if (lost > 0)
      parts.push(
        `${counted(lost, 'ring')} missing, what ${lost === 1 ? 'it' : 'they'} held is lost`,
      );
  }
  if (dropped > 0) parts.push(`${counted(dropped, 'record')} had been dropped: a ring was full`);
  if (emptied.length > 0) parts.push(`${counted(emptied.length, 'empty stream')} removed`);
  return parts;
}
