import type { TraceFormatError } from '../core/errors.js';
import type { OnFault } from '../core/fault.js';
import type { Finding, Progress } from '../core/finding.js';
import type { TraceViewer } from '../core/living/trace-view.js';
import type { Recovery, RecoverOptions } from '../core/recovery/recovery.js';
import type { RowOptions, RowReading } from './row-batch.js';
import type { TraceContent } from './row-flags.js';

/** Options of every job on a trace. */
export interface JobOptions {
  onProgress?: Progress | undefined;
  /** Takes what cannot be read of the trace, while the rest is read. Default: throw the first fault. */
  onFault?: OnFault | undefined;
  /** For a check and a dump: whether a live process is writing a file of the trace. */
  isBeingWritten?: ((file: string) => boolean) | undefined;
  /** For a dump of Laplace's references: a kernel trace whose records are merged by timestamp. */
  kernel?: string | undefined;
}

/** The names of a format's rings. */
export interface RingNames {
  /** Whether a ring that says this of its format feeds a trace of this format. */
  isFormat(format: string): boolean;
  /** Whether a file name is that of a ring of this format. */
  isRing(path: string): boolean;
  /** The file that a ring in the same directory feeds; undefined if none can be derived. */
  fileOf(ring: string): string | undefined;
  /** The file that a recovery has cut, by the name of what was cut off. */
  fileOfCut?(path: string): string | undefined;
  /** Whether a trace without a ring has nothing that could be recovered. */
  areAllThereIs?: boolean;
}

/** Interface of a format for readers of traces of any format. formats.ts lists them. */
export interface TraceFormat {
  /** Shown in messages: `Heph`. */
  name: string;
  rings: RingNames;
  /** Whether the file is a trace of this format, or a part of one. */
  isTraceFile(path: string): boolean;
  /**
   * The traces of this format in a directory, in the order in which to process them.
   *
   * @param ringed files that rings in the directory feed; they may not exist yet.
   */
  tracesIn(directory: string, ringed: readonly string[]): string[];
  /** Of traces that are directories: whether a directory in one, by its name, is a part of it. */
  isPartOfTrace?(name: string): boolean;
  /**
   * The files of a rotated trace, the oldest first.
   *
   * @param path as it was opened.
   * @param ringed as for `tracesIn`, in the directory of `path`.
   */
  piecesOf?(path: string, ringed: readonly string[]): string[];
  /** One line for each record: readable, or a JSON object. A long one comes in pieces. */
  dump(path: string, json: boolean, options: JobOptions): Iterable<string | Iterable<string>>;
  /**
   * Output of other readers of this format, byte for byte, by the name that `dump --format` takes.
   * Each character of a line is one byte.
   */
  dumpFormats?: Readonly<Record<string, (path: string, options: JobOptions) => Iterable<string>>>;
  /** Whether `dump` accepts a kernel trace. */
  mergesKernel?: boolean;
  /** Why a trace cannot be drawn, if its format has no spans or states. */
  notDrawn?: string;
  check(path: string, options: JobOptions): Iterable<Finding>;
  /** Faults that recoveries have put on record next to a file. */
  lossesOf?(path: string): TraceFormatError[];
  /** Rules of `check` that a trace can break while it is being written. */
  unfinishedRules: readonly string[];
  /** The files of a trace that is no directory; default: the trace itself. */
  filesOf?(path: string): Iterable<string>;
  /**
   * Reads what every reader needs before the records, and the first record.
   *
   * @throws TraceFormatError when no reader can open the trace.
   */
  open(path: string): void;
  /**
   * Ensures that a trace which no ring completes ends with a whole record.
   *
   * @throws TraceFormatError when it has lost its end.
   */
  checkEnd?(path: string): void;
  /** Name of a record that ends what was open, in the singular; default: `record`. */
  openThing?: string;
  /** Completes a trace whose process died. */
  recover(path: string, options: RecoverOptions): Recovery;
  /** Starts one reading of traces as their rings complete them; it shows one trace after another. */
  traceViewer(): TraceViewer;
  /** The trace as rows: all that shows or exports it reads these. Absent where `notDrawn` says why. */
  rows?(path: string, options: RowOptions): RowReading;
  /** The kind of its rows. */
  content: TraceContent;
  /** Of a piece of a trace that rotates, the name under which the trace was opened. */
  traceOf?(path: string): string;
  /** Zero of the trace's clock in nanoseconds since the Unix epoch, if the trace says it. */
  epoch(path: string): bigint | undefined;
  /** The earliest time of a trace without an epoch, in nanoseconds of its own clock. */
  firstTime(path: string): bigint | undefined;
  /** Name of the clock in labels: `CLOCK_MONOTONIC`. */
  clock: string;
}
