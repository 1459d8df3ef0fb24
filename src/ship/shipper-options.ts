import type { TracewrightError } from '../core/errors.js';
import type { FollowOptions } from '../spans/read/span-follower.js';
import type { RecordedAttributes, SpanRecord } from '../spans/span-record.js';
import type { RefusedSpans } from './refused-spans.js';

/** Counts of one shipper. */
export interface ShipCounts {
  spans: number;
  refused: number;
  /** Spans that OTLP does not allow, because an id is zero. */
  invalid: number;
  retries: number;
  /** Bytes of files that were deleted before they were sent. */
  deletedBytes: number;
  /** End of the newest span that was sent, in milliseconds since 1970. */
  newestMs: number;
}

export interface ShipperOptions {
  paths: readonly string[];
  ringDirs: readonly string[];
  owners: ReadonlySet<number> | undefined;
  newestFirst: boolean;
  inFlight: number;
  /** Spans to send; undefined: all. */
  accepts: ((span: SpanRecord) => boolean) | undefined;
  /** Added to each resource. */
  resource: RecordedAttributes;
  /** Takes each span once, when it is read. */
  onSpan?: ((span: SpanRecord) => void) | undefined;
  /** Takes each event once that is no span, when it is read. */
  onRecord?: FollowOptions['onRecord'];
  /** Whether traces of dead processes are completed on the disk, too. */
  recovers?: boolean;
  refusedSpans: RefusedSpans | undefined;
  /** Bytes of files a second at most; Infinity: as fast as the target takes them. */
  bytesPerSecond: number;
  probeMs?: number | undefined;
  /** Without an answer for so long, a run that is not to go on for ever ends, in milliseconds. Default: ten minutes. */
  patienceMs?: number | undefined;
  /** Takes messages for a person. */
  onMessage: (text: string) => void;
  /** Takes what cannot be read. */
  onFault: (fault: TracewrightError) => void;
}
