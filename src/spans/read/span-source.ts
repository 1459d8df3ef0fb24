import { TraceFormatError } from '../../core/errors.js';
import { NumberedNames } from '../../core/unused-numbers.js';
import type { Attribute, EventPacket } from '../../heph/packet.js';
import { ENDS_EARLY, jsonDetails, spanDetails } from './drawn-spans.js';
import { SpanDecoder } from './span-decoder.js';
import type { RecordedLosses } from './span-notes.js';
import type {
  RecordedAttributes,
  RecordedResource,
  RecordedValue,
  SpanRecord,
} from '../span-record.js';
import type { AttributeReader, RowCounter } from '../../rows/row-batch.js';
import { LARGE_BYTES } from '../../heph/read/event-bytes.js';
import type { EventBytes } from '../../heph/read/event-bytes.js';
import type { PacketDecoding } from '../../heph/read/packet-decoding.js';
import {
  COLLECTIONS_DESCRIPTION,
  HEAP_END_DESCRIPTION,
  HEAP_LIMIT,
  REAL_START,
  THREAD_DESCRIPTION,
} from '../layout.js';
import { LoopCurves } from './loop-curves.js';
import { hasSamples, profilePart } from './profile-part.js';
import type { ProfilePart } from './profile-part.js';
import { defineOnDemand, LARGE_VALUE_BYTES } from './attribute-values.js';
import { RecordReader } from './record-reader.js';

/** Faults of definitions that are kept. */
const MOST_FAULTS = 20;

/** A plain event of Heph. */
interface PlainRecord {
  attributes: Record<string, unknown>;
  substream: bigint;
}

/**
 * The record of an event that is no span. Of a repeated name, each value has a number.
 *
 * @param decoding of a large event has yielded its attributes: their values are decoded whenever they are read.
 */
function plainRecord(
  { description, substream, start, end }: EventPacket,
  attributes: Iterable<Attribute>,
  decoding?: PacketDecoding,
): PlainRecord {
  // Its row is one of many.
  if (description === COLLECTIONS_DESCRIPTION) return { attributes: {}, substream };
  const named = new NumberedNames();
  let from = decoding?.position ?? 0;
  for (const { name, value } of attributes) {
    const unused = named.add(name, value);
    if (decoding === undefined) continue;
    if (decoding.position - from > LARGE_VALUE_BYTES) {
      defineOnDemand(named.values, unused, decoding.againAt(from));
    }
    from = decoding.position;
  }
  if (substream !== 0n) named.add('substream', substream);
  if (end < start) named.add(ENDS_EARLY, start - end);
  return { attributes: named.values, substream };
}

/** Attributes that have stacks. */
const STACKS = ['code.stacktrace', 'eventloop.stacks', 'exception.stacktrace'];

/** Says what lines of code are in the sources of a compiled program. */
export interface OriginalCode {
  /** @param stack of lines `at function (script:line:column)`; others stay. */
  stack(stack: string): string;
  profile(part: ProfilePart): ProfilePart;
}

/** Reads spans of a Heph file by the offsets of their records. */
export class SpanSource implements AttributeReader {
  readonly #path: string;
  readonly #epoch: bigint;
  readonly #reader: RecordReader;
  #decoder: SpanDecoder;
  /** How many of the notes the decoder knows, and the curves contain. */
  #noted = 0;
  #counted = 0;
  #notes: readonly number[];
  readonly #loops = new LoopCurves();
  /** From when until when threads have run, as far as `counters` have been read: ns since the epoch. */
  lived: { begin: number; end: number } | undefined;
  /** Of a process that ran out of heap, as far as `counters` have been read: the limit in MiB. */
  heapLimit: number | undefined;
  /** Threads of which CPU samples were recorded, as far as `counters` have been read. */
  readonly profiled = new Set<number>();
  /** Of the process; undefined: lines stay as they are. */
  original: OriginalCode | undefined;
  #faults: TraceFormatError[] = [];
  /** By the offsets of their records. */
  readonly #losses = new Map<number, RecordedLosses>();

  /** @param notes where definitions and clock records lie in the file. */
  constructor(
    path: string,
    epoch: bigint,
    notes: readonly number[],
    memory?: ReadonlyMap<number, Buffer>,
  ) {
    this.#path = path;
    this.#epoch = epoch;
    this.#notes = notes;
    this.#reader = new RecordReader(path, memory);
    this.#decoder = new SpanDecoder(path, { onDemand: true });
    this.#decoder.epoch = epoch;
  }

  /**
   * Goes on after the file has grown.
   *
   * @param since what lies before it has not changed.
   */
  grow(notes: readonly number[], since: number, memory?: ReadonlyMap<number, Buffer>): void {
    this.#reader.grow(since, memory);
    let same = 0;
    while (same < notes.length && notes[same] === this.#notes[same]) same++;
    if (this.#noted > same) {
      this.#faults = [];
      for (const offset of this.#notes.slice(same)) this.#losses.delete(offset);
    }
    this.#noted = Math.min(this.#noted, same);
    this.#counted = Math.min(this.#counted, same);
    this.#notes = notes;
  }

  /** Definitions and clock records that violate the contract, the first of them. */
  get faults(): readonly TraceFormatError[] {
    this.#noteAll();
    return this.#faults;
  }

  /** Losses that the threads have put on record. */
  get losses(): RecordedLosses[] {
    this.#noteAll();
    return [...this.#losses.values()];
  }

  get resource(): RecordedResource | undefined {
    if (this.#decoder.notes.firstResource === undefined) this.#noteAll();
    return this.#decoder.notes.firstResource;
  }

  /** The span at an offset; undefined if there is none any more, or it is not as the contract says. */
  spanAt(offset: number, start: number): SpanRecord | undefined {
    this.#noteAll();
    try {
      if (!this.#reader.at(offset)) return undefined;
      const span = this.#decoder.decode(this.#reader);
      if (span === undefined) return undefined;
      // The decoder knows all clock records, and not only those before the span.
      const late = span.start - this.#epoch;
      if (Number(late) !== start) {
        const length = span.end - span.start;
        span.start = this.#epoch + BigInt(Math.round(start));
        span.end = span.start + length;
      }
      for (const { attributes } of [span, ...span.events]) this.#nameOriginals(attributes);
      return span;
    } catch (error) {
      if (!(error instanceof TraceFormatError)) throw error;
      return undefined;
    }
  }

  /** Curves of the event loops. */
  get counters(): RowCounter[] {
    const added = this.#notes.slice(this.#counted);
    this.#counted = this.#notes.length;
    return this.curvesOf(added, this.#loops);
  }

  /** The curves that records at some offsets say. @param curves takes them. */
  curvesOf(offsets: readonly number[], curves = new LoopCurves()): RowCounter[] {
    for (const offset of offsets) {
      try {
        if (!this.#reader.at(offset)) continue;
        const packet = this.#reader.packet();
        curves.add(packet);
        this.#noteLife(packet);
        if (hasSamples(packet)) this.profiled.add(packet.stream);
        if (packet.description === HEAP_END_DESCRIPTION) {
          const limit = packet.attributes.find(({ name }) => name === HEAP_LIMIT)?.value;
          if (typeof limit === 'bigint') this.heapLimit = Number(limit);
        }
      } catch (error) {
        if (!(error instanceof TraceFormatError)) throw error;
      }
    }
    return curves.all;
  }

  /** Parts of CPU profiles. */
  *profiles(): Generator<ProfilePart, void> {
    for (const offset of this.#notes) {
      try {
        const part = this.#reader.at(offset) ? profilePart(this.#reader.packet()) : undefined;
        if (part !== undefined) yield this.original?.profile(part) ?? part;
      } catch (error) {
        if (!(error instanceof TraceFormatError)) throw error;
      }
    }
  }

  #nameOriginals(attributes: RecordedAttributes): void {
    const { original } = this;
    if (original === undefined) return;
    const originalOf = (value: RecordedValue): RecordedValue => {
      if (typeof value === 'string') return original.stack(value);
      return Array.isArray(value) ? value.map(originalOf) : value;
    };
    for (const name of STACKS) {
      // A large value is decoded only where it is read.
      const value = Object.getOwnPropertyDescriptor(attributes, name)?.value as
        | RecordedValue
        | undefined;
      if (value !== undefined) attributes[name] = originalOf(value);
    }
  }

  #noteLife({ description, start, end, attributes }: EventPacket): void {
    if (description !== THREAD_DESCRIPTION) return;
    const before = attributes.find(({ name }) => name === REAL_START)?.value;
    const { begin, end: last } = this.lived ?? { begin: Infinity, end: -Infinity };
    this.lived = {
      begin: Math.min(begin, Number(typeof before === 'bigint' ? before : start)),
      end: Math.max(last, Number(end)),
    };
  }

  /** The bytes of the event at an offset, until the next one is read; undefined: there is none any more. */
  bytesAt(offset: number): EventBytes | undefined {
    return this.#reader.at(offset) ? this.#reader : undefined;
  }

  /**
   * Details of the event at an offset, for a person.
   *
   * @param most attributes of its own; the others are counted.
   */
  detailsAt(offset: number, start: number, most = Infinity): Record<string, unknown> {
    const span = this.spanAt(offset, start);
    if (span !== undefined) {
      const { shown, more } = firstOf(span.attributes, most);
      return jsonDetails(spanDetails({ ...span, attributes: shown }), more);
    }
    try {
      if (!this.#reader.at(offset)) return {};
      const packet = this.#reader.packet();
      const attributes = packet.attributes.slice(0, most);
      const { attributes: shown } = plainRecord(packet, attributes);
      return jsonDetails(Object.entries(shown), packet.attributes.length - attributes.length);
    } catch (error) {
      if (!(error instanceof TraceFormatError)) throw error;
      return {};
    }
  }

  /** Bytes of the record that was read last. */
  get size(): number {
    return this.#reader.size;
  }

  /** The span at an offset, or what the plain event there says. */
  at(offset: number): SpanRecord | PlainRecord {
    this.#noteAll();
    if (!this.#reader.at(offset)) {
      throw new TraceFormatError(this.#path, offset, 'the record is not there any more');
    }
    return this.#decoder.decode(this.#reader) ?? this.#plain();
  }

  #plain(): PlainRecord {
    if (this.#reader.size <= LARGE_BYTES) {
      const packet = this.#reader.packet();
      return plainRecord(packet, packet.attributes);
    }
    const { event, decoding } = this.#reader.largeEvent();
    return plainRecord(event, decoding.attributes(), decoding);
  }

  close(): void {
    this.#reader.close();
  }

  #noteAll(): void {
    for (; this.#noted < this.#notes.length; this.#noted++) {
      try {
        const offset = this.#notes[this.#noted]!;
        if (!this.#reader.at(offset)) continue;
        this.#decoder.decode(this.#reader);
        const { losses } = this.#decoder.notes;
        if (losses !== undefined) this.#losses.set(offset, losses);
      } catch (error) {
        // Spans lack what it defines.
        if (!(error instanceof TraceFormatError)) throw error;
        if (this.#faults.length < MOST_FAULTS) this.#faults.push(error);
      }
    }
  }
}

type Attributes = SpanRecord['attributes'];

function firstOf(attributes: Attributes, most: number): { shown: Attributes; more: number } {
  const names = Object.keys(attributes);
  if (names.length <= most) return { shown: attributes, more: 0 };
  const shown = Object.create(null) as Attributes;
  for (const name of names.slice(0, most)) shown[name] = attributes[name]!;
  return { shown, more: names.length - most };
}
