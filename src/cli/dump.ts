import { TracewrightError } from '../core/errors.js';
import { EXIT_DONE, EXIT_FAULTY, parseCommandLine } from './command.js';
import type { Command } from './command.js';
import { findTraces } from './detect.js';
import { ProgressLine } from './progress.js';
import { standardOutput } from './text-output.js';

/** `tracewright dump`. */
export const dumpCommand: Command = {
  summary: 'print every record of a trace',
  help: `Usage: tracewright dump PATH [--json]

Prints every record of the traces at PATH, one a line, in the order in which
they stand in the trace. A line that begins with # names the trace.

PATH is a Heph file, an ovni trace directory, or a directory that holds both.

  --json    one JSON object a line; 64-bit integers beyond 2^53 - 1 are strings,
            and a line {"kind":"trace", ...} names the trace
  --help    print this

Exit code: 0 done, 1 a trace is faulty (what stands in front of the fault has
been printed), 2 wrong usage or nothing to read.
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(args, { json: { type: 'boolean' } }, ['PATH']);
    const json = values.json === true;
    const output = standardOutput();
    const progress = new ProgressLine(!process.stdout.isTTY);
    let exitCode = EXIT_DONE;
    for (const { format, path } of findTraces(positionals[0]!)) {
      const title = json
        ? JSON.stringify({ kind: 'trace', format: format.name, path })
        : `# ${format.name} trace ${path}`;
      await output.write(`${title}\n`);
      try {
        for (const line of format.dump(path, json, { onProgress: progress.of(path) })) {
          const full = output.write(`${line}\n`);
          if (full) await full;
        }
      } catch (error) {
        if (!(error instanceof TracewrightError)) throw error;
        await output.flush();
        progress.clear();
        process.stderr.write(`tracewright dump: ${error.message}\n`);
        exitCode = EXIT_FAULTY;
      }
      progress.clear();
    }
    await output.end();
    return exitCode;
  },
};
