import { TracewrightError } from '../../core/errors.js';
import { checkExportable, type ExportOptions, type Selection } from '../../export/selection.js';
import type { Endian } from '../../laplace/layout.js';
import { findTraces, type FoundTrace } from '../../traces/find-traces.js';
import { printMessage, UsageError } from '../command.js';
import { FaultReport } from '../output/fault-report.js';
import { ProgressLine } from '../output/progress-line.js';
import { fileOutput, standardOutput } from '../output/text-output.js';
import { RingReader, type RingReading } from '../ring-options.js';
import { refusePartOf } from './input-traces.js';

/** How OTLP is written. */
export type OtlpEncoding = 'json' | 'protobuf';

/** A conversion as the command line asks for it. */
export interface ConversionRequest {
  path: string;
  out: string | undefined;
  force: boolean;
  /** Byte order of a binary Laplace trace. */
  endian: Endian;
  /** The part that is converted, for conversions that can select. */
  selection: Selection;
  /** How rings are read. */
  rings: RingReading;
  /** Of OTLP; undefined: as OUT's extension says. */
  encoding: OtlpEncoding | undefined;
}

/** A conversion whose result comes in chunks of bytes. */
interface ByteExport {
  chunks(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** The content of the file, for the last line: `1,000 spans`. */
  summary(): string;
}

/** The differences between conversions of this kind. */
interface ExportKind {
  /** The traces that can be converted. Others are skipped with a message. */
  choose: (found: readonly FoundTrace[]) => FoundTrace[];
  open: (traces: readonly FoundTrace[], options: ExportOptions) => ByteExport | Promise<ByteExport>;
  /** Whether the result is no text, so that a terminal must not get it. */
  isBinary: boolean;
}

/** Converts the traces at a path to the file OUT, or to standard output. */
export async function exportTraces(
  request: ConversionRequest,
  { choose, open, isBinary }: ExportKind,
): Promise<number> {
  const { path, out, force, selection } = request;
  const toFile = out !== undefined && out !== '-';
  if (!toFile && isBinary && process.stdout.isTTY) {
    throw new UsageError('OUT is missing, and standard output is a terminal');
  }
  asUsage(() => {
    checkExportable(selection);
  });
  const progress = new ProgressLine(toFile || !process.stdout.isTTY);
  const faults = new FaultReport('convert', {
    before() {
      progress.clear();
    },
  });
  const traces = choose(findTraces([path], {}, { onFault: faults.add }));
  if (toFile) refusePartOf(traces, out);
  const rings = new RingReader('convert', request.rings, faults.add);
  for (const trace of traces) rings.show(trace);
  const result = await open(traces, {
    selection,
    progress: (trace) => progress.of(trace.path),
    onFault: faults.add,
  });
  const output = toFile ? await fileOutput(out, force) : standardOutput();
  for await (const chunk of result.chunks()) await output.writeBytes(chunk);
  progress.clear();
  rings.close();
  await output.end();
  // In a pipeline the summary would only disturb.
  if (toFile || process.stderr.isTTY) {
    printMessage(`${toFile ? out : 'standard output'}: ${result.summary()}`);
  }
  return faults.end();
}

function asUsage(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof TracewrightError ? new UsageError(error.message) : error;
  }
}
