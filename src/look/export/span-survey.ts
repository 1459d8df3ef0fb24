import { unlessFaulty } from '../../core/fault.js';
import type { Progress } from '../../core/finding.js';
import { DESCRIPTION_OFFSET, END_OFFSET, START_OFFSET, STREAM_OFFSET } from '../../heph/layout.js';
import { PacketCursor } from '../../heph/read/packet-cursor.js';
import { SpanDecoder } from '../../spans/read/span-decoder.js';
import type { RecordedResource, SpanRecord } from '../../spans/span-record.js';
import {
  FLAGS,
  PARENT_ID,
  PARENT_ID_AFTER_NAME,
  SPAN_ID,
  SPAN_ID_AFTER_NAME,
  TRACE_HIGH,
} from '../../spans/layout.js';

const WORD_ATTRIBUTE = 13;
const headOf = (name: string): number => (2 << 16) | (name.charCodeAt(0) << 8) | name.charCodeAt(1);
const HEADS = [TRACE_HIGH, SPAN_ID, PARENT_ID, FLAGS].map(headOf);
const IDENTITY_BYTES = HEADS.length * WORD_ATTRIBUTE;

/** What is noted of a span, with ids as halves. */
export type SpanNote = (
  stream: number,
  high: number,
  low: number,
  parentHigh: number,
  parentLow: number,
) => void;

/** What a first look at a Heph file finds. */
export interface SpanSurvey {
  /** Earliest start and latest end in nanoseconds since 1970; undefined: there is no event. */
  start: bigint | undefined;
  end: bigint | undefined;
  /** The earliest start that is not long before the file's own: one that a program gave may be years away. */
  recordedStart: bigint | undefined;
  resource: RecordedResource | undefined;
}

/** Nanoseconds before a file within which a start counts as recorded: 104 days. */
const LONG_BEFORE = BigInt(Number.MAX_SAFE_INTEGER);

/** Where the identity of the cursor's event begins in its bytes; -1: it is no span. */
function identityAt({ view, place, size }: PacketCursor): number {
  const description = place + DESCRIPTION_OFFSET;
  const identity = description + 2 + view.getUint16(description);
  if (identity + IDENTITY_BYTES > place + size) return -1;
  for (let i = 0; i < HEADS.length; i++) {
    if (view.getUint32(identity + i * WORD_ATTRIBUTE) !== HEADS[i]) return -1;
  }
  return identity;
}

class Survey implements SpanSurvey {
  start: bigint | undefined;
  end: bigint | undefined;
  recordedStart: bigint | undefined;
  readonly #decoder: SpanDecoder;
  #epoch = 0n;
  #least = Infinity;
  #most = 0;

  constructor(decoder: SpanDecoder) {
    this.#decoder = decoder;
  }

  get resource(): RecordedResource | undefined {
    return this.#decoder.firstResource;
  }

  set epoch(value: bigint) {
    this.flush();
    this.#epoch = value;
    this.#decoder.epoch = value;
  }

  /** Takes note of times since the file's epoch. */
  addRaw(cursor: PacketCursor): void {
    const start = cursor.u64AsNumber(START_OFFSET);
    const end = cursor.u64AsNumber(END_OFFSET);
    if (start > Number.MAX_SAFE_INTEGER || end > Number.MAX_SAFE_INTEGER) {
      this.add(this.#epoch + cursor.u64(START_OFFSET), this.#epoch + cursor.u64(END_OFFSET));
      return;
    }
    if (start < this.#least) this.#least = start;
    if (end > this.#most) this.#most = end;
    if (start > this.#most) this.#most = start;
  }

  add(start: bigint, end: bigint): void {
    if (this.start === undefined || start < this.start) this.start = start;
    const isRecorded = start >= this.#epoch - LONG_BEFORE;
    if (isRecorded && (this.recordedStart === undefined || start < this.recordedStart)) {
      this.recordedStart = start;
    }
    const last = end < start ? start : end;
    if (this.end === undefined || last > this.end) this.end = last;
  }

  flush(): void {
    if (this.#least === Infinity) return;
    this.add(this.#epoch + BigInt(this.#least), this.#epoch + BigInt(this.#most));
    [this.#least, this.#most] = [Infinity, 0];
  }
}

/**
 * Looks at the spans of a file by their ids and times alone, at some ten times the speed of reading
 * them. Faults are passed over: the reader of the spans reports them.
 *
 * @param accepts decides which spans count; every span is decoded then.
 */
export function surveySpans(
  path: string,
  note: SpanNote | undefined,
  accepts: ((span: SpanRecord) => boolean) | undefined,
  onProgress: Progress | undefined,
): SpanSurvey {
  const decoder = new SpanDecoder(path);
  const survey = new Survey(decoder);
  const cursor = unlessFaulty(
    () => new PacketCursor(path, { onFault: ignore, ...(onProgress && { onProgress }) }),
  );
  while (cursor?.next() === true) {
    try {
      surveyPacket(cursor, survey, decoder, note, accepts);
    } catch (error) {
      cursor.refuse(error);
    }
  }
  cursor?.close();
  survey.flush();
  return survey;
}

/** The reader of the spans reports faults. */
const ignore = (): void => undefined;

function surveyPacket(
  cursor: PacketCursor,
  survey: Survey,
  decoder: SpanDecoder,
  note: SpanNote | undefined,
  accepts: ((span: SpanRecord) => boolean) | undefined,
): void {
  if (!cursor.isEvent) {
    const packet = cursor.packet();
    if (packet.kind === 'metadata' && packet.epoch !== undefined) survey.epoch = packet.epoch;
    return;
  }
  const identity = identityAt(cursor);
  if (identity === -1) {
    decoder.decode(cursor);
    if (!decoder.isNote) {
      survey.addRaw(cursor);
    }
    return;
  }
  const start = cursor.u64AsNumber(START_OFFSET);
  // A start of 0 can stand for one before the epoch.
  if (start === 0 || decoder.hasJumps || accepts !== undefined) {
    const span = decoder.decode(cursor);
    if (span === undefined || accepts?.(span) === false) return;
    survey.add(span.start, span.end);
  } else {
    survey.addRaw(cursor);
  }
  if (note === undefined) return;
  const { view } = cursor;
  const id = identity + SPAN_ID_AFTER_NAME;
  const parent = identity + PARENT_ID_AFTER_NAME;
  note(
    cursor.u32(STREAM_OFFSET),
    view.getUint32(id),
    view.getUint32(id + 4),
    view.getUint32(parent),
    view.getUint32(parent + 4),
  );
}
