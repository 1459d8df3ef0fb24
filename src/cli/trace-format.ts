import type { ChromeEvent } from '../core/chrome-event.js';
import type { Finding, Progress } from '../core/finding.js';
import type { Recovery, RecoverOptions } from '../core/recovery/recover-rings.js';

/** What a job on a trace can be told. */
export interface JobOptions {
  onProgress?: Progress | undefined;
  /** Of a dump of Laplace's references: the kernel trace to be put between them. */
  kernel?: string | undefined;
}

/**
 * What the command knows of one format. A format is a file of its own that exports one of these,
 * listed in detect.ts.
 */
export interface TraceFormat {
  /** As it stands in messages: `Heph`. */
  name: string;
  /** Whether the file is a trace of this format or a part of one. */
  isTraceFile(path: string): boolean;
  /** The traces of this format that a directory holds, in the order in which to treat them. */
  tracesIn(directory: string): string[];
  /** The files of a trace that rotated, from the oldest to the newest, by the path that was opened. */
  piecesOf?(path: string): string[];
  /** A line for each record: readable, or one JSON object. */
  dump(path: string, json: boolean, options: JobOptions): Iterable<string>;
  /**
   * Further forms in which `dump --format NAME` prints a trace, by name: those of other readers, byte
   * for byte. A character of a line stands for a byte.
   */
  dumpFormats?: Readonly<Record<string, (path: string, options: JobOptions) => Iterable<string>>>;
  /** Whether its dump takes a kernel trace beside it. */
  interleavesKernel?: boolean;
  /** Why there is nothing to draw, in a format that holds no spans or states. */
  notDrawn?: string;
  check(path: string, options: JobOptions): Iterable<Finding>;
  /** Finishes what a dead process has left. */
  recover(path: string, options: RecoverOptions): Recovery;
  /** Events with times of the trace's own clock in microseconds, and process ids of its own. */
  chromeEvents(path: string, options: JobOptions): Iterable<ChromeEvent>;
  /** What the clock's zero is in nanoseconds since the Unix epoch, where the trace tells. */
  epoch(path: string): bigint | undefined;
  /** The earliest time of a trace without an epoch, in nanoseconds of its own clock. */
  firstTime(path: string): bigint | undefined;
  /** The clock, for people: `CLOCK_MONOTONIC`. */
  clock: string;
}
