import { EXIT_DONE, EXIT_FAULTY, EXIT_USAGE, parseCommandLine } from './command.js';
import { counted } from '../core/counted.js';
import { TracewrightError } from '../core/errors.js';
import { terminalText } from '../core/terminal-text.js';
import type { RecoveredStream } from '../core/recovery/recover-file.js';
import type { Recovery } from '../core/recovery/recover-rings.js';
import type { Command } from './command.js';
import { findTraces, toldHelp, toldOptions } from './detect.js';
import { tell } from './tell.js';
import { standardOutput } from './text-output.js';

/** `tracewright recover`. */
export const recoverCommand: Command = {
  summary: 'finish the traces of a process that was killed',
  help: `Usage: tracewright recover PATH... [--ring-dir DIR] [--json] [--format F]
                          [--endian E]

Finishes what a dead process has left at PATH: events that were recorded and had
not reached the trace are written, threads that had not ended get their end, and
the rings are removed. It can be interrupted and repeated; a trace whose process
is alive is left alone, and so is one with a ring that may not be read.

PATH is a Heph file, an ovni trace directory, a DUMPI file or metafile, a
reference or kernel trace of Laplace, or a directory that holds such traces; of
a Heph trace that rotates, also the name under which it was opened.

  --ring-dir DIR  where the rings are, when the process kept them elsewhere
  --json          one JSON object a trace: what was done
${toldHelp}  --help          print this

Exit code: 0 done, or nothing to do; 1 something could not be recovered;
2 wrong usage, or the process is alive.
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      args,
      { 'ring-dir': { type: 'string' }, json: { type: 'boolean' }, ...toldOptions },
      ['PATH...'],
    );
    const ringDir = values['ring-dir'];
    const output = standardOutput();
    let exitCode = EXIT_DONE;
    for (const { format, path } of findTraces(positionals, values, true)) {
      let result: Recovery;
      try {
        result = format.recover(path, ringDir === undefined ? {} : { ringDir });
      } catch (error) {
        if (!(error instanceof TracewrightError)) throw error;
        // Traces beside it may belong to processes that have ended.
        tell(`tracewright recover: ${error.message}`);
        exitCode = error.code === 'ERR_ORDER' ? EXIT_USAGE : Math.max(exitCode, EXIT_FAULTY);
        continue;
      }
      if (result.faults.length > 0) exitCode = Math.max(exitCode, EXIT_FAULTY);
      // Of some ranks of a run.
      if (result.faults.some(isOfTheLiving)) exitCode = EXIT_USAGE;
      if (values.json === true) {
        const messages = result.faults.map(({ message }) => message);
        await output.write(
          `${terminalText(JSON.stringify({ path, ...result, faults: messages }))}\n`,
        );
        continue;
      }
      for (const fault of result.faults)
        await output.write(`fault: ${terminalText(fault.message)}\n`);
      await output.write(
        result.streams.length + result.emptied.length === 0
          ? `${terminalText(path)}: nothing to recover (${format.name})\n`
          : `${terminalText(path)}: ${summary(result).join(', ')} (${format.name})\n`,
      );
    }
    await output.end();
    return exitCode;
  },
};

/** Whether a fault says that the process lives that writes a part of the trace. */
function isOfTheLiving({ code, field }: TracewrightError): boolean {
  return code === 'ERR_ORDER' && field === 'pid';
}

/** What was done, in words; of what was not there nothing is said. */
function summary({ streams, emptied }: Recovery): string[] {
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
    const ofThem = marks === 0 ? '' : ` (${marks} of them pop marks)`;
    if (added > 0) parts.push(`${counted(added, 'record')} added to end what was open${ofThem}`);
    const cut = sum((stream) => stream.cutBytes);
    if (cut > 0) parts.push(`${counted(cut, 'byte')} of half a record cut off`);
  }
  if (emptied.length > 0) parts.push(`${counted(emptied.length, 'empty stream')} removed`);
  return parts;
}
