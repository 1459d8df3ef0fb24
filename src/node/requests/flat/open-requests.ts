import type { OpenRecords } from '../../../core/ring/open-records.js';
import { systemRandom } from '../../../core/system-random.js';
import {
  DESCRIPTION_OFFSET,
  END_OFFSET,
  SIZE_OFFSET,
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

/** An event's bytes from its description to its identity's end, and where in them words go. */
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
  readonly #stream: Stream;
  readonly #identity: Buffer;
  readonly #spanId: number;
  /** The bytes from the description to the path's text, by the known methods. */
  readonly #beginnings = new Map<string, Buffer>();
  /** Random words that are the same for all requests of the thread. */
  readonly #random = new Uint32Array(4);
  #count = 0;

  constructor(stream: Stream, table: OpenRecords, description: string) {
    this.#stream = stream;
    this.#table = table;
    systemRandom(new Uint8Array(this.#random.buffer));
    const { bytes, traceHigh, spanId } = identityPart(description);
    bytes.writeUInt32BE(this.#random[0]!, traceHigh);
    bytes.writeUInt32BE(this.#random[1]!, traceHigh + 4);
    bytes.writeUInt32BE(this.#random[3]!, spanId);
    this.#identity = bytes;
    this.#spanId = DESCRIPTION_OFFSET + spanId;
  }

  #beginningOf(method: string): Buffer {
    const parts = [
      this.#identity,
      prefixed(METHOD),
      STRING,
      prefixed(method),
      prefixed(PATH),
      STRING,
    ];
    const bytes = Buffer.concat(parts);
    this.#beginnings.set(method, bytes);
    return bytes;
  }

  /** @returns its place; -1: there is none, which is counted. */
  begin(timing: Timing, method: string, path: string): number {
    const table = this.#table;
    const at = table.take();
    if (at === -1) return -1;
    const { view, bytes } = table;
    const known = knownMethod(method);
    const beginning = this.#beginnings.get(known) ?? this.#beginningOf(known);
    const number = ++this.#count;
    writeHead(view, at, this.#stream.id, 0, timing);
    view.setUint32(at + SUBSTREAM_OFFSET, this.#random[2]!);
    view.setUint32(at + SUBSTREAM_OFFSET + 4, number);
    view.setUint32(at + END_OFFSET, timing * 2 ** -32);
    view.setUint32(at + END_OFFSET + 4, timing);
    bytes.set(beginning, at + DESCRIPTION_OFFSET);
    view.setUint32(at + this.#spanId + 4, number);
    let to = at + DESCRIPTION_OFFSET + beginning.length;
    to = writeText(view, bytes, to, this.#fitting(path, at + table.longest - to - LENGTH_BYTES));
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
    const most = Math.floor(bytes / BYTES_A_CHARACTER);
    if (path.length <= most || Buffer.byteLength(path) <= bytes) return path;
    return path.slice(0, most - 1) + CUT;
  }

  /** Its final event is the next one of the thread. */
  ending(place: number): void {
    if (place !== -1) this.#table.ending(place);
  }

  end(place: number): void {
    if (place !== -1) this.#table.release(place);
  }
}
