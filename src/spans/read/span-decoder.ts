import { TraceFormatError } from '../../core/errors.js';
import {
  DEFINITION_STREAM,
  END_OFFSET,
  COUNTER_OFFSET,
  START_OFFSET,
  STREAM_OFFSET,
  SUBSTREAM_OFFSET,
} from '../../heph/layout.js';
import type { EventBytes } from '../../heph/read/event-bytes.js';
import { attributesAt, descriptionAt } from '../../heph/read/packet-head.js';
import {
  CLOCK_BOOT,
  CLOCK_DESCRIPTION,
  CLOCK_MONOTONIC,
  CLOCK_REAL,
  CLOCK_TIME,
  CONTRACT_VERSION,
  DROPPED_ATTRIBUTES,
  DROPPED_EVENTS,
  DROPPED_LINKS,
  EVENT,
  EVENT_TIME,
  FLAGS,
  KIND_MASK,
  KIND_SHIFT,
  KINDS,
  LINK,
  LINK_TRACE_LOW,
  LOSS_DESCRIPTION,
  LOST_DROPPED,
  LOST_OPEN,
  LOST_TEXTS,
  KEEP_SHIFT,
  NUMBER_MASK,
  IDENTITY_BYTES,
  PARENT_REMOTE,
  REAL_END,
  REAL_START,
  RESOURCE_DESCRIPTION,
  RESOURCE_SHIFT,
  SCHEMA_URL,
  SCOPE_DESCRIPTION,
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
} from '../layout.js';
import type {
  RecordedAttributes,
  RecordedEvent,
  RecordedLink,
  RecordedResource,
  RecordedScope,
  SpanRecord,
} from '../span-record.js';
import { AttributeCursor, BadSpan } from './attribute-cursor.js';
import { readingOf } from './clock-record.js';
import { HexWords } from './hex-words.js';
import { processIdOf } from './process-id.js';
import { headAt, isIdentity, VERSION_HEAD, WORD_ATTRIBUTE } from './span-identity.js';
import { WallClock } from './wall-clock.js';
import { keptOf, weightState } from './kept.js';

/** Of the high half of the flags: from here on they say why the trace was kept. */
const KEEP_BITS = 2 ** KEEP_SHIFT;

const letter = (name: string): number => name.charCodeAt(1);
/** Events that begin with a version. */
const OURS: ReadonlySet<string> = new Set([
  RESOURCE_DESCRIPTION,
  SCOPE_DESCRIPTION,
  CLOCK_BOOT,
  CLOCK_DESCRIPTION,
  CLOCK_MONOTONIC,
  CLOCK_REAL,
  CLOCK_TIME,
  LOSS_DESCRIPTION,
]);
const OUR_LENGTHS: ReadonlySet<number> = new Set([...OURS].map(({ length }) => length));
/** Attributes of clock records. */
const READINGS: ReadonlySet<string> = new Set([
  CLOCK_TIME,
  CLOCK_REAL,
  CLOCK_MONOTONIC,
  CLOCK_BOOT,
]);
/** Attributes of records of losses. */
const LOSSES: ReadonlySet<string> = new Set([LOST_DROPPED, LOST_OPEN, LOST_TEXTS]);
/** Fields of definitions. */
const TEXTS: ReadonlySet<number> = new Set([SCOPE_NAME, SCOPE_VERSION, SCHEMA_URL].map(letter));

/** What a thread says is not in its trace. */
export interface RecordedLosses {
  stream: number;
  /** Records that found its ring full. */
  dropped: number;
  /** Spans that were open at its end and had no slot, and texts that redaction refused. */
  open: number;
  texts: number;
}

const NO_PARENT = '0000000000000000';
/** Definitions of a file: as many as there are numbers for them. */
const MAX_DEFINITIONS = 1 << 16;

/** What a file says of its spans: definitions and clocks, and the spans themselves. */
export class SpanDecoder {
  readonly #path: string;
  readonly #attributes = new AttributeCursor();
  readonly #ids = new HexWords(4);
  readonly #resources = new Map<number, RecordedResource>();
  readonly #scopes = new Map<number, RecordedScope>();
  /** Whether the last event that was no span is a definition. */
  isDefinition = false;
  /** Whether the last event that was no span is a definition, a clock record or a record of losses. */
  isNote = false;
  /** What the last event that was no span says of losses. */
  losses: RecordedLosses | undefined;
  /** The resource that was defined first. */
  firstResource: RecordedResource | undefined;
  readonly #clock = new WallClock();

  readonly #isOfTrace: boolean;

  /** @param isOfTrace whether times are those of the trace: nanoseconds since its epoch. */
  constructor(path: string, isOfTrace = false) {
    this.#path = path;
    this.#isOfTrace = isOfTrace;
  }

  /** The trace's time 0, in nanoseconds since 1970. */
  get epoch(): bigint {
    return this.#clock.epoch;
  }

  set epoch(value: bigint) {
    this.#clock.epoch = value;
  }

  /** Whether the system's clock has jumped, so that times differ from those since the epoch. */
  get hasJumps(): boolean {
    return this.#clock.hasJumps;
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
    const description = descriptionAt(position) - 2;
    const attributes = this.#attributes;
    attributes.set(bytes, view, identity, end);
    if (isIdentity(view, identity, end)) {
      const name = attributes.textAt(description);
      return this.#span(bytes, view, position, identity, name);
    }
    this.isDefinition = false;
    this.isNote = false;
    this.losses = undefined;
    const nameLength = identity - description - 2;
    if (headAt(view, identity, end) === VERSION_HEAD)
      this.#note(cursor, attributes.textAt(description));
    else if (OUR_LENGTHS.has(nameLength) && OURS.has(attributes.textAt(description))) {
      throw new BadSpan('the first attribute', `a u64 "${VERSION}"`, 'another one');
    }
    return undefined;
  }

  #span(
    bytes: Buffer,
    view: DataView,
    position: number,
    identity: number,
    name: string,
  ): SpanRecord {
    const flagsAt = identity + 3 * WORD_ATTRIBUTE + 5;
    const flags = view.getUint32(flagsAt + 4);
    const start = view.getBigUint64(position + START_OFFSET);
    const end = view.getBigUint64(position + END_OFFSET);
    const offset = this.#clock.offsetAt(start);
    const parentAt = identity + 2 * WORD_ATTRIBUTE + 5;
    const hasParent = (view.getUint32(parentAt) | view.getUint32(parentAt + 4)) !== 0;
    const ids = this.#ids;
    ids.put(0, bytes, identity + 5);
    ids.put(1, bytes, position + SUBSTREAM_OFFSET);
    ids.put(2, bytes, identity + WORD_ATTRIBUTE + 5);
    if (hasParent) ids.put(3, bytes, parentAt);
    const digits = ids.text(hasParent ? 4 : 3);
    const span: SpanRecord = {
      traceId: digits.slice(0, 32),
      spanId: digits.slice(32, 48),
      parentIsRemote: (flags & PARENT_REMOTE) !== 0,
      name,
      kind: KINDS[(flags >> KIND_SHIFT) & KIND_MASK] ?? 'internal',
      start: offset + start,
      end: offset + end,
      attributes: {},
      events: [],
      links: [],
      status: { code: STATUSES[(flags >> STATUS_SHIFT) & STATUS_MASK] ?? 'unset', message: '' },
      flags: flags & TRACE_FLAGS_MASK,
      traceState: '',
      dropped: { attributes: 0, events: 0, links: 0 },
      thread: view.getUint32(position + STREAM_OFFSET),
      unfinished: (flags & UNFINISHED) !== 0,
    };
    if (hasParent) span.parentSpanId = digits.slice(48);
    const resource = this.#resources.get(flags >>> RESOURCE_SHIFT);
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
      const known = this.#scopes.get(scope);
      if (known !== undefined) span.scope = known;
    }
    this.#attributes.at = identity + IDENTITY_BYTES;
    this.#rest(span, offset);
    return span;
  }

  /** The program's attributes, and everything that most spans do not have. */
  #rest(span: SpanRecord, offset: bigint): void {
    const attributes = this.#attributes;
    let to: RecordedAttributes | undefined = span.attributes;
    let event: RecordedEvent | undefined;
    let link: RecordedLink | undefined;
    let start: bigint | undefined;
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
      else start = this.#ofSpan(span, code, offset) ?? start;
    }
  }

  #ofSpan(span: SpanRecord, code: number, offset: bigint): bigint | undefined {
    const attributes = this.#attributes;
    switch (code) {
      case letter(STATUS_MESSAGE):
        span.status.message = attributes.text();
        return undefined;
      case letter(TRACE_STATE):
        span.traceState = attributes.text();
        return undefined;
      case letter(REAL_START):
        span.start = offset + attributes.integer();
        return span.start;
      case letter(REAL_END):
        span.end = offset + attributes.integer();
        return undefined;
      case letter(DROPPED_ATTRIBUTES):
        span.dropped.attributes = attributes.number();
        return undefined;
      case letter(DROPPED_EVENTS):
        span.dropped.events = attributes.number();
        return undefined;
      case letter(DROPPED_LINKS):
        span.dropped.links = attributes.number();
        return undefined;
      case letter(SCOPE_NAME):
        span.scope = { name: attributes.text(), version: '', schemaUrl: '', attributes: {} };
        return undefined;
      case letter(SCOPE_VERSION):
        if (span.scope === undefined) attributes.value();
        else span.scope.version = attributes.text();
        return undefined;
      default:
        attributes.value();
        return undefined;
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

  /** A definition, a clock record or a record of losses. */
  #note(cursor: EventBytes, description: string): void {
    const attributes = this.#attributes;
    const { view, position } = cursor;
    const isDefinition = view.getUint32(position + STREAM_OFFSET) === DEFINITION_STREAM;
    this.isDefinition = isDefinition;
    const isClock = description === CLOCK_DESCRIPTION;
    const isLoss = description === LOSS_DESCRIPTION && !isDefinition;
    this.isNote = isDefinition || isClock || isLoss;
    if (!this.isNote) return;
    const own: RecordedAttributes = {};
    const fields = new Map<number, string>();
    let version = 0;
    while (attributes.next()) {
      const { code } = attributes;
      if (code === 0) {
        const { name } = attributes;
        if ((isClock && READINGS.has(name)) || (isLoss && LOSSES.has(name)))
          own[name] = attributes.integer();
        else attributes.put(own);
      } else if (code === letter(VERSION)) version = attributes.number();
      else if (TEXTS.has(code)) fields.set(code, attributes.text());
      else attributes.value();
    }
    if (version > CONTRACT_VERSION) {
      throw new TraceFormatError(
        this.#path,
        cursor.offset,
        `the spans are of version ${version} of their contract; want at most ${CONTRACT_VERSION}`,
        { field: VERSION, value: version, limit: `at most ${CONTRACT_VERSION}` },
      );
    }
    if (isLoss) {
      const countOf = (name: string): number => Number(own[name] ?? 0);
      this.losses = {
        stream: view.getUint32(position + STREAM_OFFSET),
        dropped: countOf(LOST_DROPPED),
        open: countOf(LOST_OPEN),
        texts: countOf(LOST_TEXTS),
      };
      return;
    }
    if (isClock) {
      if (this.#isOfTrace) return;
      const reading = readingOf(view.getBigUint64(position + START_OFFSET), version, own);
      if (reading !== undefined) this.#clock.read(reading);
      return;
    }
    const number = view.getUint32(position + COUNTER_OFFSET);
    if (number >= MAX_DEFINITIONS) return;
    const schemaUrl = fields.get(letter(SCHEMA_URL)) ?? '';
    if (description === RESOURCE_DESCRIPTION) {
      const resource = { schemaUrl, attributes: own };
      this.#resources.set(number, resource);
      this.firstResource ??= resource;
    } else if (description === SCOPE_DESCRIPTION) {
      this.#scopes.set(number, {
        name: fields.get(letter(SCOPE_NAME)) ?? '',
        version: fields.get(letter(SCOPE_VERSION)) ?? '',
        schemaUrl,
        attributes: own,
      });
    }
  }
}
