import type { OpenRecords } from '../../../core/ring/open-records.js';
import { systemRandom } from '../../../core/system-random.js';
import {
  DESCRIPTION_OFFSET,
  END_OFFSET,
  SIZE_OFFSET,
  START_OFFSET,
  SUBSTREAM_OFFSET,
  TYPE_STRING,
  TYPE_U64,
} from '../../../heph/layout.js';
import { prefixed } from '../../../heph/write/constant-bytes.js';
import { writeHead, writeText } from '../../../heph/write/encoder.js';
import type { Timing } from '../../../heph/write/event-stream.js';
import type { Stream } from '../../../heph/write/stream.js';
import {
  FLAGS,
  KIND_SHIFT,
  KINDS,
  PARENT_ID,
  SPAN_ID,
  TRACE_HIGH,
  UNFINISHED,
} from '../../../spans/layout.js';
import { knownMethod, METHOD, PATH, ROUTE } from '../conventions.js';

const SAMPLED = 1;
const REQUEST_FLAGS = UNFINISHED | (KINDS.indexOf('server') << KIND_SHIFT) | SAMPLED;
const U64 = Buffer.of(TYPE_U64);
const STRING = Buffer.of(TYPE_STRING);
const ZERO = Buffer.alloc(8);
const CUT = '…';
const LENGTH_BYTES = 2;
const ROUTE_HEAD = Buffer.concat([prefixed(ROUTE), STRING]);
const BYTES_A_CHARACTER = 3;

/** The records of open requests of one method: they differ in their numbers, their times and the path. */
interface Form {
  /** Up to the path. */
  readonly record: Buffer;
  /** Of the table. */
  readonly writer: number;
}

/** A record from its description to its identity's end, and where in it words go. */
function identityPart(description: string): {
  bytes: Buffer;
  traceHigh: number;
  spanId: number;
} {
  const parts = [prefixed(description)];
  const wordAt = (name: string, value = ZERO): number => {
    parts.push(prefixed(name), U64, value);
    return Buffer.concat(parts).length - ZERO.length;
  };
  const traceHigh = wordAt(TRACE_HIGH);
  const spanId = wordAt(SPAN_ID);
  wordAt(PARENT_ID);
  const flags = Buffer.alloc(8);
  flags.writeUInt32BE(REQUEST_FLAGS, 4);
  wordAt(FLAGS, flags);
  return { bytes: Buffer.concat(parts), traceHigh, spanId };
}

/**
 * The requests of a thread that are open. Their events have no ids, but what the process leaves of them when
 * it dies is a span, of which readers know that it is not finished.
 */
export class OpenRequests {
  readonly #table: OpenRecords;
  /** What all records begin with: the head, the description and the identity. */
  readonly #head: Buffer;
  readonly #spanId: number;
  /** By the known methods. */
  readonly #forms = new Map<string, Form>();
  #lastMethod = '';
  #lastForm: Form | undefined;
  #count = 0;

  constructor(stream: Stream, table: OpenRecords, description: string) {
    this.#table = table;
    // Random words that are the same for all requests of the thread.
    const random = new Uint32Array(4);
    systemRandom(new Uint8Array(random.buffer));
    const { bytes, traceHigh, spanId } = identityPart(description);
    bytes.writeUInt32BE(random[0]!, traceHigh);
    bytes.writeUInt32BE(random[1]!, traceHigh + 4);
    bytes.writeUInt32BE(random[3]!, spanId);
    const head = Buffer.alloc(DESCRIPTION_OFFSET);
    writeHead(new DataView(head.buffer, head.byteOffset), 0, stream.id, 0, 0);
    head.writeUInt32BE(random[2]!, SUBSTREAM_OFFSET);
    this.#head = Buffer.concat([head, bytes]);
    this.#spanId = DESCRIPTION_OFFSET + spanId;
  }

  /** The form of a method. Most requests have the method of the one before. */
  #formOf(method: string): Form {
    if (this.#lastForm !== undefined && method === this.#lastMethod) return this.#lastForm;
    const known = knownMethod(method);
    const form = this.#forms.get(known) ?? this.#newForm(known);
    this.#lastMethod = method;
    this.#lastForm = form;
    return form;
  }

  #newForm(method: string): Form {
    const parts = [this.#head, prefixed(METHOD), STRING, prefixed(method), prefixed(PATH), STRING];
    const form = { record: Buffer.concat(parts), writer: this.#table.newWriter() };
    this.#forms.set(method, form);
    return form;
  }

  /** @returns its place; -1: there is none, which is counted. */
  begin(timing: Timing, method: string, path: string): number {
    const table = this.#table;
    const at = table.takeAsItIs();
    if (at === -1) return -1;
    const { view, bytes } = table;
    const { record, writer } = this.#formOf(method);
    if (table.becomesOf(at, writer)) bytes.set(record, at);
    const number = ++this.#count;
    const high = timing * 2 ** -32;
    view.setUint32(at + SUBSTREAM_OFFSET + 4, number);
    view.setUint32(at + START_OFFSET, high);
    view.setUint32(at + START_OFFSET + 4, timing);
    view.setUint32(at + END_OFFSET, high);
    view.setUint32(at + END_OFFSET + 4, timing);
    view.setUint32(at + this.#spanId + 4, number);
    const pathAt = at + record.length;
    const room = at + table.longest - pathAt - LENGTH_BYTES;
    const to = writeText(view, bytes, pathAt, this.#fitting(path, room));
    view.setUint32(at + SIZE_OFFSET, to - at);
    table.publish(at, to - at);
    return at;
  }

  /**
   * A request has a route, or another one than before.
   *
   * @param before the route that its place has; empty: none.
   * @returns its place from now on.
   */
  route(place: number, before: string, route: string): number {
    const table = this.#table;
    if (place === -1 || table.taken >= table.places) return place;
    const { view, bytes } = table;
    const head = ROUTE_HEAD.length;
    const had = before === '' ? 0 : head + LENGTH_BYTES + Buffer.byteLength(before);
    const length = table.lengthOf(place) - had;
    const most = length + head + LENGTH_BYTES + BYTES_A_CHARACTER * route.length;
    if (most > table.longest) return place;
    const at = table.take();
    bytes.copyWithin(at, place, place + length);
    bytes.set(ROUTE_HEAD, at + length);
    const to = writeText(view, bytes, at + length + head, route);
    view.setUint32(at + SIZE_OFFSET, to - at);
    table.withdraw(place);
    table.publish(at, to - at);
    table.release(place);
    return at;
  }

  /** A path of at most so many bytes. */
  #fitting(path: string, bytes: number): string {
    if (BYTES_A_CHARACTER * path.length <= bytes || Buffer.byteLength(path) <= bytes) return path;
    return path.slice(0, Math.floor(bytes / BYTES_A_CHARACTER) - 1) + CUT;
  }

  /** Its final event is the next one of the thread. */
  ending(place: number): void {
    if (place !== -1) this.#table.ending(place);
  }

  end(place: number): void {
    if (place !== -1) this.#table.release(place);
  }
}
