import { didYouMean } from '../../core/nearest-name.js';
import { UsageError, parseCommandLine } from '../command.js';
import type { Command } from '../command.js';
import {
  checkSelection,
  conditionHelp,
  conditionOptions,
  withSignedTimes,
} from '../condition-options.js';
import { convertToLaplaceBinary, convertToLaplaceText } from '../conversions/laplace.js';
import { convertToOtlp, convertToParquet } from '../conversions/spans.js';
import { convertToOvni3 } from '../conversions/ovni3.js';
import { convertToPerfetto } from '../conversions/picture.js';
import { convertToPprof, convertToSpeedscope } from '../conversions/stacks.js';
import type { ConversionRequest, OtlpEncoding } from '../conversions/export.js';
import { checkRings, ringHelp, ringOptions } from '../ring-options.js';
import { checkEndian } from '../input-options.js';
import { isAll } from '../../export/selection.js';
import type { Selection } from '../../export/selection.js';

/** Each converts and returns the exit code. They are in conversions/. */
const conversions: Readonly<Record<string, (request: ConversionRequest) => Promise<number>>> = {
  'laplace-binary': convertToLaplaceBinary,
  'laplace-text': convertToLaplaceText,
  otlp: convertToOtlp,
  ovni3: convertToOvni3,
  parquet: convertToParquet,
  perfetto: convertToPerfetto,
  pprof: convertToPprof,
  speedscope: convertToSpeedscope,
};

/** Those that can convert a part of a recording. */
const SELECTING: readonly string[] = ['perfetto', 'otlp', 'parquet'];

/** @throws UsageError for an unknown encoding. */
function checkEncoding(encoding: string | undefined): OtlpEncoding | undefined {
  if (encoding === undefined || encoding === 'json' || encoding === 'protobuf') return encoding;
  throw new UsageError(`--encoding must be json or protobuf, got ${JSON.stringify(encoding)}`);
}

const LEAST_DIGITS = 8;

/** @throws UsageError for what is no id of a trace, and no beginning of one. */
function checkTraces(selection: Selection, given: readonly string[] | undefined): Selection {
  if (given === undefined) return selection;
  const traces = given.flatMap((text) => text.split(',')).map((text) => text.trim().toLowerCase());
  for (const id of traces) {
    if (/^[\da-f]+$/.test(id) && id.length >= LEAST_DIGITS && id.length <= 32) continue;
    throw new UsageError(
      `--traces must be ids of traces, ${LEAST_DIGITS} to 32 hexadecimal digits each, ` +
        `got ${JSON.stringify(id)}`,
    );
  }
  return { ...selection, traces };
}

/** `tracewright convert`. */
export const convertCommand: Command = {
  summary: 'convert a trace to another format',
  help: `Usage: tracewright convert --to perfetto PATH [OUT] [SELECTION] [--force]
                           [RINGS]
       tracewright convert --to otlp PATH [OUT] [SELECTION] [--encoding E]
                           [--force] [RINGS]
       tracewright convert --to parquet PATH [OUT] [SELECTION] [--force] [RINGS]
       tracewright convert --to pprof PATH [OUT] [--force] [RINGS]
       tracewright convert --to speedscope PATH [OUT] [--force] [RINGS]
       tracewright convert --to ovni3 PATH OUT [--force] [RINGS]
       tracewright convert --to laplace-text PATH [OUT] [--endian E] [--force]
       tracewright convert --to laplace-binary PATH [OUT] [--endian E] [--force]

SELECTION is [--traces IDS]... [--since|--from TIME] [--until TIME]
             [--where CONDITION]...
RINGS is     [--no-rings | --ring-dir DIR...]

Converts the traces at PATH. The traces themselves do not change.

  --to perfetto protobuf for ui.perfetto.dev and trace_processor, from traces
                of every format except Laplace's references, exact to the
                nanosecond, with arrows between threads and processes. OUT is a
                new file. Without OUT, or with -, the result goes to standard
                output
  --to otlp     the spans of Heph traces as requests of OpenTelemetry's
                protocol (ExportTraceServiceRequest): one line of JSON each,
                or protobuf with its length before each. OUT is as for perfetto
  --encoding    of otlp: json (default), or protobuf, which is also the default
                if OUT ends in .pb, .binpb or .protobuf
  --to parquet  the spans of Heph traces as a table: one row a span, columns
                with types. OUT is as for perfetto
  --to pprof    stacks of the CPU profile or else of stalls, and of allocations,
                for go tool pprof: gzipped protobuf. OUT is as for perfetto
  --to speedscope
                the same as JSON for https://www.speedscope.app
  --to ovni3    an ovni trace of version 3, which today's ovniemu reads, from
                one of version 1, or from Heph traces: threads, and marks of
                their requests, stalls and garbage collections. OUT is a new
                directory
  --to laplace-text
                a reference trace as text, from a binary one, like Laplace's
                raw-reference-binary-to-text. PATH can be - for standard input.
                OUT is as for perfetto
  --to laplace-binary
                a binary reference trace, from text
  --endian      byte order of the binary reference trace: little (default) or
                big
  --force       replace OUT if it exists. For ovni3, OUT must be a directory
                that is empty or contains an ovni trace
${ringHelp}  --help        print this text

SELECTION, for perfetto, otlp and parquet
  --traces      only the spans of these traces: ids, or their first 8 digits or
                more, with commas between them; can be repeated
${conditionHelp}
--to names the format. The end of the time is therefore --until.

With --to perfetto, several traces in a directory become one. Each keeps its own
processes. Their time lines are aligned by their epochs. An ovni trace of
another library has no epoch: next to other traces it starts at time 0, and a
label on its processes says so.

Exit codes
  0  done
  1  something cannot be read: standard error names the file and the byte. OUT
     contains everything else; for ovni3 and laplace, there is no OUT
  2  wrong usage, or a file cannot be read or written
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      withSignedTimes(args),
      {
        to: { type: 'string' },
        force: { type: 'boolean' },
        endian: { type: 'string' },
        encoding: { type: 'string' },
        traces: { type: 'string', multiple: true },
        ...conditionOptions,
        ...ringOptions,
      },
      ['PATH', '[OUT]'],
    );
    const targets = Object.keys(conversions).join(', ');
    if (values.to === undefined) throw new UsageError(`--to is missing; use one of ${targets}`);
    const convert = Object.hasOwn(conversions, values.to) ? conversions[values.to] : undefined;
    if (convert === undefined) {
      const hint = /^[-+]?\d/.test(values.to)
        ? '. The end of the time is --until'
        : didYouMean(values.to, Object.keys(conversions));
      throw new UsageError(
        `cannot convert to ${JSON.stringify(values.to)}; use one of ${targets}${hint}`,
      );
    }
    const [path, out] = positionals;
    const selection = checkTraces(checkSelection(values), values.traces);
    if (!isAll(selection) && !SELECTING.includes(values.to)) {
      throw new UsageError(
        `--since, --until, --where and --traces are for ${SELECTING.join(', ')}`,
      );
    }
    if (values.encoding !== undefined && values.to !== 'otlp') {
      throw new UsageError('--encoding is for otlp');
    }
    return convert({
      path: path!,
      out,
      force: values.force === true,
      endian: checkEndian(values),
      selection,
      encoding: checkEncoding(values.encoding),
      rings: checkRings(values),
    });
  },
};
