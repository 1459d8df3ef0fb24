import { EXIT_DONE, EXIT_FAULTY, parseCommandLine } from './command.js';
import type { Recovery } from '../core/recovery.js';
import type { Command } from './command.js';
import { findTraces, toldHelp, toldOptions } from './detect.js';
import { standardOutput } from './text-output.js';

/** `tracewright recover`. */
export const recoverCommand: Command = {
  summary: 'finish the traces of a process that was killed',
  help: `Usage: tracewright recover PATH [--ring-dir DIR] [--json]

Finishes what a dead process has left at PATH: events that were recorded and had
not reached the trace are written, threads that had not ended get their end, and
the rings are removed. It can be interrupted and repeated; a trace whose process
is alive is left alone.

PATH is a Heph file, an ovni trace directory, a DUMPI file or metafile, a
reference or kernel trace of Laplace, or a directory that holds such traces.

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
      ['PATH'],
    );
    const ringDir = values['ring-dir'];
    const output = standardOutput();
    let faults = 0;
    for (const { format, path } of findTraces(positionals[0]!, values)) {
      const result = format.recover(path, ringDir === undefined ? {} : { ringDir });
      faults += result.faults.length;
      const bytes = result.streams.reduce((sum, stream) => sum + stream.bytes, 0);
      const added = result.streams.reduce((sum, stream) => sum + stream.addedRecords, 0);
      if (values.json === true) {
        const messages = result.faults.map(({ message }) => message);
        await output.write(`${JSON.stringify({ path, ...result, faults: messages })}\n`);
        continue;
      }
      for (const fault of result.faults) await output.write(`fault: ${fault.message}\n`);
      await output.write(
        result.streams.length + result.emptied.length === 0
          ? `${path}: nothing to recover (${format.name})\n`
          : `${path}: ${result.streams.length} streams completed with ${bytes} bytes and ` +
              `${added} added events${details(result)}, ${result.emptied.length} empty ones removed ` +
              `(${format.name})\n`,
      );
    }
    await output.end();
    return faults === 0 ? EXIT_DONE : EXIT_FAULTY;
  },
};

/** What there is to tell of some streams only. */
function details({ streams }: Recovery): string {
  const marks = streams.reduce((sum, stream) => sum + (stream.endedMarks ?? 0), 0);
  const cut = streams.reduce((sum, stream) => sum + (stream.cutBytes ?? 0), 0);
  return (
    (marks === 0 ? '' : ` (${marks} of them end marks)`) +
    (cut === 0 ? '' : `, ${cut} bytes of half an event cut off`)
  );
}
