import type { KeepReason, SpanKind, SpanStatus } from './layout.js';

type RecordedScalar = string | number | bigint | boolean | null | Uint8Array;

/** A value of an attribute as it was recorded; integers beyond 2^53 are bigints. */
export type RecordedValue = RecordedScalar | RecordedValue[];

export type RecordedAttributes = Record<string, RecordedValue>;

/** Something that happened within a span. */
export interface RecordedEvent {
  name: string;
  /** Nanoseconds since 1970. */
  time: bigint;
  attributes: RecordedAttributes;
  droppedAttributes: number;
}

/** Another span that a span has to do with. */
export interface RecordedLink {
  traceId: string;
  spanId: string;
  /** W3C's flags. */
  flags: number;
  traceState: string;
  /** Whether the other span came from another process. */
  remote: boolean;
  attributes: RecordedAttributes;
  droppedAttributes: number;
}

/** Why a trace was kept, and for how many traces it stands. */
export interface Kept {
  /** `undecided`: its process ended before it was decided. */
  reason: KeepReason;
  weight: number;
}

/** Which library has recorded a span. */
export interface RecordedScope {
  name: string;
  version: string;
  schemaUrl: string;
  attributes: RecordedAttributes;
}

/** The service, host and process that have recorded a span. */
export interface RecordedResource {
  schemaUrl: string;
  attributes: RecordedAttributes;
}

/** A span as `readSpans` yields it. */
export interface SpanRecord {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** Absent: a root. */
  parentSpanId?: string;
  /** Whether the parent came from another process. */
  parentIsRemote: boolean;
  name: string;
  kind: SpanKind;
  /** Of a server span below another one of its process: it is no request of its own. */
  isNested?: true;
  /** Nanoseconds since 1970, by the clock record before it. */
  start: bigint;
  end: bigint;
  attributes: RecordedAttributes;
  events: RecordedEvent[];
  links: RecordedLink[];
  status: { code: SpanStatus; message: string };
  /** W3C's flags. */
  flags: number;
  traceState: string;
  dropped: { attributes: number; events: number; links: number };
  /** Absent: the program's own span, or its definition is missing. */
  scope?: RecordedScope;
  /** Absent: its definition is missing. */
  resource?: RecordedResource;
  /** The stream of the trace. */
  thread: number;
  pid?: number;
  /** The process ended before the span did: `end` is the last sign of life. */
  unfinished: boolean;
  /** Why its trace was kept, and for how many it stands; absent: the thread keeps all. See docs/keep.md. */
  kept?: Kept;
}
