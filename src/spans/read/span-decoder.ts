import { TraceFormatError } from '../../core/errors.js';
import {
  attributesAt,
  END_OFFSET,
  nameAt,
  START_OFFSET,
  STREAM_OFFSET,
  SUBSTREAM_OFFSET,
} from '../../heph/layout.js';
import { LARGE_BYTES } from '../../heph/read/event-bytes.js';
import type { EventBytes } from '../../heph/read/event-bytes.js';
import { thresholdMember } from '../context/trace-state-entries.js';
import {
  DROPPED_ATTRIBUTES,
  DROPPED_EVENTS,
  DROPPED_LINKS,
  EVENT,
  EVENT_TIME,
  FLAGS,
  KIND_MASK,
  KIND_SHIFT,
  KINDS,
  NESTED_SERVER,
  LINK,
  LINK_TRACE_LOW,
  KEEP_SHIFT,
  NUMBER_MASK,
  IDENTITY_BYTES,
  PARENT_REMOTE,
  REAL_END,
  REAL_START,
  RESOURCE_SHIFT,
  SCOPE_NAME,
  SCOPE_VERSION,
  SPAN_ID,
  STATUS_MASK,
  STATUS_MESSAGE,
  STATUS_SHIFT,
  STATUSES,
  TRACE_FLAGS_MASK,
  TRACE_STATE,
  UNFINISHED,
  VERSION,
  KEEP_REASON_MASK,
  KEEP_REASONS,
  KEEP_RULES,
  KEEP_WEIGHT_SHIFT,
  KEEP_WEIGHT_UNIT,
} from '../layout.js';
import type {
  RecordedAttributes,
  RecordedEvent,
  RecordedLink,
  SpanRecord,
  Kept,
  RecordedResource,
} from '../span-record.js';
import { AttributeValues, BadSpan, LargeAttributes } from './attribute-values.js';
import { processIdOf } from './resource-facts.js';
import { headAt, isIdentity, VERSION_HEAD, WORD_ATTRIBUTE } from './span-identity.js';
import { needsVersion, SpanNotes } from './span-notes.js';

const WORD_BYTES = 8;

/** Two digits of each byte, as they lie in memory. */
const PAIRS = new Uint16Array(
  Uint8Array.from(
    Buffer.from(Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0')).join('')),
  ).buffer,
);

/** 64-bit words as hexadecimal digits. Several at a time, because each call of Buffer costs 80 ns. */
class HexWords {
  readonly #pairs: Uint16Array;
  readonly #digits: Buffer;

  /** @param count the most words of a text. */
  constructor(count: number) {
    this.#pairs = new Uint16Array(count * WORD_BYTES);
    this.#digits = Buffer.from(this.#pairs.buffer);
  }

  /** Takes the big-endian word at `from`. */
  put(index: number, bytes: Buffer, from: number): void {
    const pairs = this.#pairs;
    const to = index * WORD_BYTES;
    for (let i = 0; i < WORD_BYTES; i++) pairs[to + i] = PAIRS[bytes[from + i]!]!;
  }

  /** The first words, sixteen digits each. */
  text(count: number): string {
    return this.#digits.toString('latin1', 0, 2 * WORD_BYTES * count);
  }
}

const RATIO = /(?:^|,)ratio:([\d.e-]+)(?=,|$)/;
const THRESHOLDS = 2 ** 56;

/** @param bits the highest 16 bits of a span's flags. @returns undefined: its thread records every trace. */
function keptOf(bits: number, resource: RecordedResource | undefined): Kept | undefined {
  const reason = KEEP_REASONS[bits & KEEP_REASON_MASK];
  if (reason === undefined) return undefined;
  const weight = 2 ** ((bits >>> KEEP_WEIGHT_SHIFT) / KEEP_WEIGHT_UNIT);
  if (reason !== 'ratio') return { reason, weight };
  // The resource says it exactly.
  const ratio = Number(RATIO.exec(String(resource?.attributes[KEEP_RULES] ?? ''))?.[1]);
  return { reason, weight: ratio > 0 ? 1 / ratio : weight };
}

/** The weight as OpenTelemetry's `tracestate` says it. */
function weightState({ weight }: Kept): string {
  return thresholdMember(BigInt(Math.round((1 - 1 / weight) * THRESHOLDS)));
}

/** Of the high half of the flags: from here on they say why the trace was kept. */
const KEEP_BITS = 2 ** KEEP_SHIFT;

const letter = (name: string): number => name.charCodeAt(1);
const NO_BYTES = new DataView(new ArrayBuffer(0));
const NO_PARENT = '0000000000000000';

/** Decodes the spans of a file, with its definitions and clocks. */
export class SpanDecoder {
  readonly #path: string;
  readonly #attributes = new AttributeValues();
  readonly #ids = new HexWords(4);
  /** Notes of events that are no spans. */
  readonly notes: SpanNotes;
  readonly #isOfTrace: boolean;
  readonly #onDemand: boolean;

  /**
   * @param options.isOfTrace whether times are those of the trace: nanoseconds since its epoch.
   * @param options.onDemand whether a large span has values that are decoded whenever they are read. The bytes of the
   *   event must stay as they are until then.
   */
  constructor(path: string, { isOfTrace = false, onDemand = false } = {}) {
    this.#path = path;
    this.#isOfTrace = isOfTrace;
    this.#onDemand = onDemand;
    this.notes = new SpanNotes(path, isOfTrace);
  }

  /** The trace's time 0, in nanoseconds since 1970. */
  get epoch(): bigint {
    return this.notes.clock.epoch;
  }

  set epoch(value: bigint) {
    this.notes.clock.epoch = value;
  }

  /** Lets go of the bytes of the last event, which are a part of many. */
  release(): void {
    this.#attributes.set(Buffer.alloc(0), NO_BYTES, 0, 0);
  }

  /**
   * Decodes the cursor's event: returns it if it is a span, and otherwise takes note of what it defines.
   *
   * @throws TraceFormatError when the event violates the format, or the contract is of a later version.
   */
  decode(cursor: EventBytes): SpanRecord | undefined {
    try {
      return this.#decode(cursor);
    } catch (error) {
      if (!(error instanceof BadSpan)) throw error;
      // The packet's decoder names the offset, unless only the contract is violated.
      cursor.packet();
      const { message, field = 'span', limit } = error;
      throw new TraceFormatError(this.#path, cursor.offset, message, {
        field,
        ...(limit !== undefined && { limit }),
      });
    }
  }

  #decode(cursor: EventBytes): SpanRecord | undefined {
    const { bytes, view, position, size } = cursor;
    const end = position + size;
    const identity = attributesAt(view, position);
    const description = nameAt(position);
    const attributes = this.#attributes;
    if (isIdentity(view, identity, end)) {
      attributes.set(bytes, view, identity + IDENTITY_BYTES, end);
      const name = attributes.textAt(description);
      return this.#span(bytes, view, position, size, identity, name);
    }
    attributes.set(bytes, view, identity, end);
    const { notes } = this;
    notes.begin();
    const text = (): string => attributes.textAt(description);
    if (headAt(view, identity, end) === VERSION_HEAD) notes.read(cursor, attributes, text());
    else if (needsVersion(identity - description - 2, text)) {
      throw new BadSpan('the first attribute', `a u64 "${VERSION}"`, 'another one');
    }
    return undefined;
  }

  #span(
    bytes: Buffer,
    view: DataView,
    position: number,
    size: number,
    identity: number,
    name: string,
  ): SpanRecord {
    const flagsAt = identity + 3 * WORD_ATTRIBUTE + 5;
    const flags = view.getUint32(flagsAt + 4);
    const start = view.getBigUint64(position + START_OFFSET);
    const end = view.getBigUint64(position + END_OFFSET);
    const offset = this.notes.clock.offsetAt(start);
    const parentAt = identity + 2 * WORD_ATTRIBUTE + 5;
    const hasParent = (view.getUint32(parentAt) | view.getUint32(parentAt + 4)) !== 0;
    const ids = this.#ids;
    ids.put(0, bytes, identity + 5);
    ids.put(1, bytes, position + SUBSTREAM_OFFSET);
    ids.put(2, bytes, identity + WORD_ATTRIBUTE + 5);
    if (hasParent) ids.put(3, bytes, parentAt);
    const digits = ids.text(hasParent ? 4 : 3);
    const kind = (flags >> KIND_SHIFT) & KIND_MASK;
    const isNested = kind === NESTED_SERVER;
    const span: SpanRecord = {
      traceId: digits.slice(0, 32),
      spanId: digits.slice(32, 48),
      parentIsRemote: (flags & PARENT_REMOTE) !== 0,
      name,
      kind: isNested ? 'server' : (KINDS[kind] ?? 'internal'),
      start: offset + start,
      end: offset + end,
      attributes: this.#onDemand && size > LARGE_BYTES ? new LargeAttributes() : {},
      events: [],
      links: [],
      status: { code: STATUSES[(flags >> STATUS_SHIFT) & STATUS_MASK] ?? 'unset', message: '' },
      flags: flags & TRACE_FLAGS_MASK,
      traceState: '',
      dropped: { attributes: 0, events: 0, links: 0 },
      thread: view.getUint32(position + STREAM_OFFSET),
      unfinished: (flags & UNFINISHED) !== 0,
    };
    if (isNested) span.isNested = true;
    if (hasParent) span.parentSpanId = digits.slice(48);
    const resource = this.notes.resources.get(flags >>> RESOURCE_SHIFT);
    if (resource !== undefined) {
      span.resource = resource;
      const pid = processIdOf(resource);
      if (pid !== undefined) span.pid = pid;
    }
    const high = view.getUint32(flagsAt);
    const kept = high < KEEP_BITS ? undefined : keptOf(high >>> KEEP_SHIFT, resource);
    if (kept !== undefined) {
      span.kept = kept;
      span.traceState = weightState(kept);
    }
    const scope = high & NUMBER_MASK;
    if (scope !== 0) {
      const known = this.notes.scopes.get(scope);
      if (known !== undefined) span.scope = known;
    }
    this.#rest(span, offset);
    return span;
  }

  /** The program's attributes, and everything that most spans do not have. */
  #rest(span: SpanRecord, offset: bigint): void {
    const attributes = this.#attributes;
    let to: RecordedAttributes | undefined = span.attributes;
    let event: RecordedEvent | undefined;
    let link: RecordedLink | undefined;
    while (attributes.next()) {
      const { code } = attributes;
      if (code === 0) {
        if (to === undefined) attributes.value();
        else attributes.put(to);
        continue;
      }
      switch (code) {
        case letter(EVENT):
          event = {
            name: attributes.text(),
            time: span.start,
            attributes: {},
            droppedAttributes: 0,
          };
          link = undefined;
          span.events.push(event);
          to = event.attributes;
          continue;
        case letter(LINK):
          link = {
            traceId: attributes.hex(),
            spanId: NO_PARENT,
            flags: 0,
            traceState: '',
            remote: false,
            attributes: {},
            droppedAttributes: 0,
          };
          event = undefined;
          span.links.push(link);
          to = link.attributes;
          continue;
      }
      if (code >= 0x41 && code <= 0x5a) {
        // A section of a later version of the contract: nothing of it is known.
        attributes.value();
        to = event = link = undefined;
      } else if (link !== undefined) this.#ofLink(link, code);
      else if (event !== undefined) this.#ofEvent(event, code, span.start);
      else if (to === undefined) attributes.value();
      else this.#ofSpan(span, code, offset);
    }
  }

  #ofSpan(span: SpanRecord, code: number, offset: bigint): void {
    const attributes = this.#attributes;
    switch (code) {
      case letter(STATUS_MESSAGE):
        span.status.message = attributes.text();
        return;
      case letter(TRACE_STATE):
        span.traceState = attributes.text();
        return;
      case letter(REAL_START):
        span.start = offset + attributes.integer();
        return;
      case letter(REAL_END):
        span.end = offset + attributes.integer();
        return;
      case letter(DROPPED_ATTRIBUTES):
        span.dropped.attributes = attributes.number();
        return;
      case letter(DROPPED_EVENTS):
        span.dropped.events = attributes.number();
        return;
      case letter(DROPPED_LINKS):
        span.dropped.links = attributes.number();
        return;
      case letter(SCOPE_NAME):
        span.scope = { name: attributes.text(), version: '', schemaUrl: '', attributes: {} };
        return;
      case letter(SCOPE_VERSION):
        if (span.scope === undefined) attributes.value();
        else span.scope.version = attributes.text();
        return;
      default:
        attributes.value();
    }
  }

  /** A time since the epoch fits an i64, so that a distance modulo 2^64 says which one it is. */
  #timeAfter(start: bigint, distance: bigint): bigint {
    const zero = this.#isOfTrace ? 0n : this.epoch;
    return zero + BigInt.asIntN(64, start - zero + distance);
  }

  #ofEvent(event: RecordedEvent, code: number, start: bigint): void {
    const attributes = this.#attributes;
    if (code === letter(EVENT_TIME)) event.time = this.#timeAfter(start, attributes.integer());
    else if (code === letter(DROPPED_ATTRIBUTES)) event.droppedAttributes = attributes.number();
    else attributes.value();
  }

  #ofLink(link: RecordedLink, code: number): void {
    const attributes = this.#attributes;
    switch (code) {
      case letter(LINK_TRACE_LOW):
        link.traceId += attributes.hex();
        return;
      case letter(SPAN_ID):
        link.spanId = attributes.hex();
        return;
      case letter(FLAGS): {
        const flags = attributes.number();
        link.flags = flags & TRACE_FLAGS_MASK;
        link.remote = (flags & PARENT_REMOTE) !== 0;
        return;
      }
      case letter(TRACE_STATE):
        link.traceState = attributes.text();
        return;
      case letter(DROPPED_ATTRIBUTES):
        link.droppedAttributes = attributes.number();
        return;
      default:
        attributes.value();
    }
  }
}
