import { TraceFormatError } from '../../core/errors.js';
import { COUNTER_OFFSET, DEFINITION_STREAM, STREAM_OFFSET } from '../../heph/layout.js';
import type { EventBytes } from '../../heph/read/event-bytes.js';
import {
  CLOCK_BOOT,
  CLOCK_DESCRIPTION,
  CLOCK_MONOTONIC,
  CLOCK_REAL,
  CLOCK_TIME,
  CONTRACT_VERSION,
  LOSS_DESCRIPTION,
  LOST_DROPPED,
  LOST_OPEN,
  LOST_TEXTS,
  RESOURCE_DESCRIPTION,
  SCHEMA_URL,
  SCOPE_DESCRIPTION,
  SCOPE_NAME,
  SCOPE_VERSION,
  VERSION,
} from '../layout.js';
import type { RecordedAttributes, RecordedResource, RecordedScope } from '../span-record.js';
import type { AttributeValues } from './attribute-values.js';
import { readingOf } from './clock-record.js';
import { TraceClock } from './trace-clock.js';

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
/** Definitions of a file: as many as there are numbers for them. */
const MAX_DEFINITIONS = 1 << 16;

/** Losses that a thread has put on record. */
export interface RecordedLosses {
  stream: number;
  /** Records that found its ring full. */
  dropped: number;
  /** Spans that were open at its end and had no slot, and texts that redaction refused. */
  open: number;
  texts: number;
}

/** Whether an event with this description must begin with a version. @param text reads it; its bytes are `length`. */
export function needsVersion(length: number, text: () => string): boolean {
  return OUR_LENGTHS.has(length) && OURS.has(text());
}

/** Definitions, clocks and losses of a file: events that are no spans. */
export class SpanNotes {
  readonly resources = new Map<number, RecordedResource>();
  readonly scopes = new Map<number, RecordedScope>();
  readonly clock = new TraceClock();
  /** The resource that was defined first. */
  firstResource: RecordedResource | undefined;
  /** Of the last event, if it defines something: the number of that; of a scope it is negative. */
  defined: number | undefined;
  /** Whether it is a clock record. */
  isClock = false;
  /** Whether it is a definition, a clock record or a record of losses. */
  isNote = false;
  /** Its losses. */
  losses: RecordedLosses | undefined;
  readonly #path: string;
  readonly #isOfTrace: boolean;

  /** @param isOfTrace whether times are those of the trace: then clock records say nothing. */
  constructor(path: string, isOfTrace: boolean) {
    this.#path = path;
    this.#isOfTrace = isOfTrace;
  }

  /** Forgets what the last event was. */
  begin(): void {
    this.defined = undefined;
    this.isClock = false;
    this.isNote = false;
    this.losses = undefined;
  }

  /** Takes note of an event that begins with a version. @throws TraceFormatError if that is a later one. */
  read(cursor: EventBytes, attributes: AttributeValues, description: string): void {
    const { view, position } = cursor;
    const isDefinition = view.getUint32(position + STREAM_OFFSET) === DEFINITION_STREAM;
    const isClock = description === CLOCK_DESCRIPTION;
    this.isClock = isClock;
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
      const reading = readingOf(own);
      if (reading !== undefined) this.clock.read(reading);
      return;
    }
    const number = view.getUint32(position + COUNTER_OFFSET);
    if (number >= MAX_DEFINITIONS) return;
    const schemaUrl = fields.get(letter(SCHEMA_URL)) ?? '';
    if (description === RESOURCE_DESCRIPTION) {
      const resource = { schemaUrl, attributes: own };
      this.defined = number;
      this.resources.set(number, resource);
      this.firstResource ??= resource;
    } else if (description === SCOPE_DESCRIPTION) {
      this.defined = -1 - number;
      this.scopes.set(number, {
        name: fields.get(letter(SCOPE_NAME)) ?? '',
        version: fields.get(letter(SCOPE_VERSION)) ?? '',
        schemaUrl,
        attributes: own,
      });
    }
  }
}
