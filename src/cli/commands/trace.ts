import { existsSync } from 'node:fs';
import { traceReport } from '../../look/report/trace-report.js';
import { jsonTrace, textTrace } from '../../look/report/print/text/text-trace.js';
import { tracesThatBegin, traceDigits } from '../../look/report/trees/find-trace.js';
import { type Command, parseCommandLine, UsageError } from '../command.js';
import { indexHelp, indexOptions, openIndex } from '../index-options.js';
import { checkInput, inputHelp, inputOptions, pathHelp } from '../input-options.js';
import { ownStyle, printLines } from '../output/text-output.js';

/** Where the hook writes unless `TRACEWRIGHT_DIR` says so. */
const DIRECTORY = 'traces';

/** `tracewright trace`. */
export const traceCommand: Command = {
  summary: 'print one trace by its id, as a log has it',
  help: `Usage: tracewright trace ID [PATH]... [--json] [INDEX]

INDEX is [--ring-dir DIR]... [--cache DIR|off] [--clear-cache] [--format F]
         [--endian E]

Prints the trace with this id as a tree: how long each span took, what the
trace waited for, and which errors occurred. The first digits of the id
suffice, if no other trace begins so. A traceparent is an id, too.

  tracewright trace 3f2a91c0 traces

PATH is where the hook wrote: the default is TRACEWRIGHT_DIR, or traces.

${pathHelp}
  --json        one JSON object, as in \`slowest\` of a report
${indexHelp}${inputHelp}  --help        print this text

Exit codes
  0  done
  1  something cannot be read; everything else was
  2  wrong usage, or no such trace
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      args,
      { json: { type: 'boolean' }, ...indexOptions, ...inputOptions },
      ['ID', '[PATH]...'],
    );
    // Other commands have the path first.
    const isId = (each: string): boolean => traceDigits(each) !== undefined && !existsSync(each);
    const at = Math.max(0, positionals.findIndex(isId));
    const text = positionals[at]!;
    const given = positionals.toSpliced(at, 1);
    const digits = traceDigits(text);
    if (digits === undefined) {
      throw new UsageError(
        `ID must be the id of a trace or its first digits, got ${JSON.stringify(text)}. ` +
          `Type: tracewright trace ID ${text}`,
      );
    }
    const paths = given.length > 0 ? given : [process.env['TRACEWRIGHT_DIR'] ?? DIRECTORY];
    const { index, exitCode } = await openIndex('trace', paths, checkInput(values), values);
    try {
      const [traceId, ...others] = tracesThatBegin(index, digits);
      if (traceId === undefined) throw new UsageError(`no trace begins with ${digits}`);
      if (others.length > 0) {
        const ids = [traceId, ...others].join(', ');
        throw new UsageError(`several traces begin with ${digits}, as ${ids}. Give more digits`);
      }
      const report = await traceReport(index, traceId);
      await printLines(values.json === true ? [jsonTrace(report)] : textTrace(report, ownStyle()));
    } finally {
      index.close();
    }
    return exitCode;
  },
};
