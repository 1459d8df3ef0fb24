import { openInOrder, REGION_BEGIN, REGION_END } from './ordered-reader.js';
import { MARK_PUSH, MARK_POP } from './reader.js';
import { LITTLE } from '../../core/byte-order.js';
import { TraceFormatError } from '../../core/errors.js';
import type { ReadAt } from '../../core/files/file-window.js';
import type { Ending } from '../../core/recovery/own-file.js';
import {
  CLOCK_OFFSET,
  codeOf,
  HEADER_BYTES,
  JUMBO_DATA_OFFSET,
  JUMBO_FLAG,
  MAX_PAYLOAD_BYTES,
  MCV_OFFSET,
  PAYLOAD_OFFSET,
  payloadBytes,
  payloadSizeCode,
  STREAM_HEADER_BYTES,
  STREAM_VERSION,
} from '../layout.js';
import { threadDigitsOf, versionOf } from '../file-names.js';
import { MARK_TYPES, MAX_DEPTH } from '../mark-stacks.js';
import { transitionOf } from '../thread-state.js';
import type { ThreadState } from '../thread-state.js';

/** Bytes that stay in the processor's cache between reading and parsing. */
const CHUNK_BYTES = 1 << 18;
const CLOCK_BYTES = 8;

const OVNI = 'O'.charCodeAt(0);
const STATE = 'H'.charCodeAt(0);
const MARK = 'M'.charCodeAt(0);
const AFFINITY = 'A'.charCodeAt(0);
const REGION = 'U'.charCodeAt(0);
/** The last characters of what begins and ends a region. */
const BEGIN = REGION_BEGIN & 0xff;
const END = REGION_END & 0xff;
/** Of the first four bytes of an event, read little-endian. */
const MODEL_BITS = 0xff << 8;
const OVNI_MODEL = OVNI << 8;
const OHX = codeOf('OHx');
const OAS = codeOf('OAs');

interface PushedMark {
  /** Its position among all pushes of the stream. */
  order: number;
  type: number;
  /** The value's eight bytes as in the stream. */
  value: Buffer;
}

/** Follows a stream as the emulator does, as far as its end depends on it. */
class StreamSurvey {
  events = 0;
  /** Where the last whole event ends. */
  end: number;
  little = LITTLE;
  state: ThreadState = 'unknown';
  /** The CPU that the thread was put on last; -1 is the virtual one. */
  cpu = -1;
  /** The latest one. */
  readonly lastClock = Buffer.alloc(CLOCK_BYTES);
  /** Whether a region of unordered events has begun and not ended. */
  isUnordered = false;
  #hasRegions = false;
  #stacks: PushedMark[][] = [];
  #pushes = 0;

  constructor(path: string, read: ReadAt, version: 1 | 3, size: number) {
    this.end = 0;
    if (version === 3) this.#readHeader(read, size);
    this.#read(read, size);
    if (this.#hasRegions) this.#readInOrder(path, read, version);
  }

  /** Marks that are still pushed, the last one first. */
  get pushed(): PushedMark[] {
    return this.#stacks.flat().sort((a, b) => b.order - a.order);
  }

  #readHeader(read: ReadAt, size: number): void {
    const header = Buffer.alloc(STREAM_HEADER_BYTES);
    if (size >= header.length) {
      read(header, header.length, 0);
      this.little = header.readUInt32LE(4) === STREAM_VERSION;
    }
    this.end = Math.min(size, STREAM_HEADER_BYTES);
  }

  #read(read: ReadAt, size: number): void {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      const length = read(chunk, Math.min(chunk.length, size - this.end), this.end);
      const before = this.end;
      this.#take(chunk, length, size);
      if (this.end === before) return;
    }
  }

  /** Reads a stream with regions of unordered events again, and follows it by the clocks. */
  #readInOrder(path: string, read: ReadAt, version: 1 | 3): void {
    this.state = 'unknown';
    this.cpu = -1;
    this.#stacks = [];
    const options = { version, littleEndian: this.little, maxDataBytes: 0 };
    const reader = openInOrder(path, options, { size: this.end, read });
    const { event } = reader;
    const bytes = Buffer.alloc(HEADER_BYTES + MAX_PAYLOAD_BYTES);
    let latest = 0n;
    while (reader.next()) {
      if (event.clock >= latest) latest = event.clock;
      if (event.jumbo || event.code >> 16 !== OVNI) continue;
      bytes.writeUIntBE(event.code, MCV_OFFSET, 3);
      bytes.set(event.payload, PAYLOAD_OFFSET);
      this.#ovniEvent(bytes, 0, event.payloadBytes);
    }
    reader.close();
    if (this.little) this.lastClock.writeBigUInt64LE(latest);
    else this.lastClock.writeBigUInt64BE(latest);
  }

  /**
   * Reads the events that begin in the chunk; the first begins at its start. A gigabyte has tens of
   * millions of them, so events that do not matter here cost no call. An event like the one before
   * has the same size, so the processor finds the next one without waiting for it.
   */
  #take(chunk: Buffer, length: number, size: number): void {
    const view = new DataView(chunk.buffer, chunk.byteOffset, length);
    const words = new Int32Array(chunk.buffer, chunk.byteOffset, length >> 2);
    const start = this.end;
    // After this an event may exceed the chunk.
    const whole = length - HEADER_BYTES - MAX_PAYLOAD_BYTES;
    let at = 0;
    let last = -1;
    let events = 0;
    let known = 0;
    let knownBytes = HEADER_BYTES;
    for (;;) {
      while (at <= whole) {
        const header = view.getInt32(at, true);
        if (header !== known || header === 0) {
          if ((header & JUMBO_FLAG) !== 0 || (header & MODEL_BITS) === 0) break;
          const code = header & 0x0f;
          const bytes = HEADER_BYTES + code + ((code + 15) >> 4);
          if ((header & MODEL_BITS) === OVNI_MODEL) {
            const category = (header >> 16) & 0xff;
            if (category === REGION) this.#region(header >>> 24);
            if (category === STATE || category === MARK || category === AFFINITY) {
              this.#ovniEvent(chunk, at, bytes - HEADER_BYTES);
              // oxlint-disable-next-line no-useless-assignment -- it is read after the loop
              last = at;
              at += bytes;
              events++;
              continue;
            }
          }
          known = header;
          knownBytes = bytes;
        }
        const from = at;
        if (((at | knownBytes) & 3) === 0) {
          const step = knownBytes >> 2;
          const lastWord = whole >> 2;
          let word = (at >> 2) + step;
          while (word <= lastWord && words[word] === known) word += step;
          at = word << 2;
        } else {
          do {
            at += knownBytes;
          } while (at <= whole && view.getInt32(at, true) === known);
        }
        events += (at - from) / knownBytes;
        // oxlint-disable-next-line no-useless-assignment -- it is read after the loop
        last = at - knownBytes;
      }
      // A jumbo event, or the last ones of the chunk.
      const bytes = this.#bytesOf(chunk, at, length);
      if (bytes === undefined || start + at + bytes > size) break;
      if ((chunk[at]! & JUMBO_FLAG) === 0 && chunk[at + MCV_OFFSET] === OVNI) {
        if (chunk[at + MCV_OFFSET + 1] === REGION) this.#region(chunk[at + MCV_OFFSET + 2]!);
        this.#ovniEvent(chunk, at, bytes - HEADER_BYTES);
      }
      last = at;
      at += bytes;
      events++;
    }
    if (last === -1) return;
    this.events += events;
    chunk.copy(this.lastClock, 0, last + CLOCK_OFFSET, last + CLOCK_OFFSET + CLOCK_BYTES);
    this.end = start + at;
  }

  /** Bytes of the event at `at`; undefined if the chunk does not have all of it. */
  #bytesOf(chunk: Buffer, at: number, length: number): number | undefined {
    if (at + HEADER_BYTES > length) return undefined;
    const flags = chunk[at]!;
    // No event has such a model: a block of the file is filled with zeros.
    if ((chunk.readInt32LE(at) & MODEL_BITS) === 0) return undefined;
    if ((flags & JUMBO_FLAG) === 0) {
      const bytes = HEADER_BYTES + payloadBytes(flags);
      return at + bytes <= length ? bytes : undefined;
    }
    if (at + JUMBO_DATA_OFFSET > length) return undefined;
    return JUMBO_DATA_OFFSET + this.#u32(chunk, at + PAYLOAD_OFFSET);
  }

  #region(value: number): void {
    this.#hasRegions = true;
    if (value === BEGIN) this.isUnordered = true;
    else if (value === END) this.isUnordered = false;
  }

  #ovniEvent(chunk: Buffer, at: number, payload: number): void {
    const code = (OVNI << 16) | (chunk[at + MCV_OFFSET + 1]! << 8) | chunk[at + MCV_OFFSET + 2]!;
    if (code === MARK_PUSH || code === MARK_POP) {
      if (payload === 12) this.#mark(chunk, at + PAYLOAD_OFFSET, code);
      return;
    }
    if (code === OAS && payload >= 4) this.cpu = this.#i32(chunk, at + PAYLOAD_OFFSET);
    const transition = transitionOf(code);
    if (transition === undefined) return;
    this.state = transition.to;
    if (code === OHX && payload >= 4) this.cpu = this.#i32(chunk, at + PAYLOAD_OFFSET);
  }

  #mark(chunk: Buffer, at: number, code: number): void {
    const type = this.#i32(chunk, at + 8);
    if (type < 0 || type >= MARK_TYPES) return;
    const stack = (this.#stacks[type] ??= []);
    if (code === MARK_POP) {
      stack.pop();
    } else if (stack.length < MAX_DEPTH) {
      const value = Buffer.allocUnsafe(8);
      chunk.copy(value, 0, at, at + 8);
      stack.push({ order: this.#pushes++, type, value });
    }
  }

  #u32(chunk: Buffer, at: number): number {
    return this.little ? chunk.readUInt32LE(at) : chunk.readUInt32BE(at);
  }

  #i32(chunk: Buffer, at: number): number {
    return this.little ? chunk.readInt32LE(at) : chunk.readInt32BE(at);
  }
}

/** The state events that bring a thread to its end, with the CPU of those that name one. */
function stepsToEnd(survey: StreamSurvey, version: 1 | 3): [mcv: string, cpu?: number][] {
  // Another thread may run on its CPU by now. The virtual CPU accepts any number of threads.
  const elsewhere: [string, number][] = version === 3 && survey.cpu !== -1 ? [['OAs', -1]] : [];
  switch (survey.state) {
    case 'unknown':
      return survey.events === 0 ? [] : [['OHx', -1], ['OHe']];
    case 'running':
      return [['OHe']];
    case 'cooling':
      // The reader of version 1 refuses an end from here.
      return version === 3 ? [['OHe']] : [['OHp'], ['OHr'], ['OHe']];
    case 'paused':
      return elsewhere.length === 0
        ? [['OHr'], ['OHe']]
        : [['OHw'], ...elsewhere, ['OHr'], ['OHe']];
    case 'warming':
      return [...elsewhere, ['OHr'], ['OHe']];
    case 'dead':
      return [];
  }
}

/**
 * The ending of a stream of a dead process.
 *
 * @param hasRing whether a ring says that whole events end at `end`. If it is lost, half an event, or zeros, may
 *   follow them.
 * @throws TraceFormatError when the file has something else than events before.
 */
export function endingOf(
  path: string,
  hasRing: boolean,
  read: ReadAt,
  end: number,
): Ending & { events: number } {
  const ending = streamEnding(path, read, versionOf(path), end, Number(threadDigitsOf(path)) | 0);
  const head = Buffer.alloc(Math.min(HEADER_BYTES, end - ending.end));
  read(head, head.length, ending.end);
  const isBlank = head.length === HEADER_BYTES && (head.readInt32LE(0) & MODEL_BITS) === 0;
  if (ending.end === end || (!hasRing && (!isBlank || areZeros(read, ending.end, end)))) {
    return ending;
  }
  const what = isBlank
    ? 'a block of zeros begins here, or in the event before'
    : 'no event begins here';
  throw new TraceFormatError(
    path,
    ending.end,
    `the file is damaged: ${what}, and ${end - ending.end} bytes follow. It is left as it is`,
    { field: 'mcv' },
  );
}

function areZeros(read: ReadAt, from: number, end: number): boolean {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = from; at < end; at += chunk.length) {
    const length = read(chunk, Math.min(chunk.length, end - at), at);
    if (chunk.subarray(0, length).some((byte) => byte !== 0)) return false;
  }
  return true;
}

/**
 * Reads the stream of a dead process and finds its ending: where its last complete event ends, the end of
 * a region of unordered events, the pops of marks that are still pushed, and the events that end its
 * thread from its last state. They have the latest clock.
 *
 * The stream decides, not the state in its ring: a process can be killed between an event and the
 * store of the state.
 *
 * @param size bytes of the file that count.
 * @param tid the thread's number, for the `OHx` of a thread that had none.
 */
export function streamEnding(
  path: string,
  read: ReadAt,
  version: 1 | 3,
  size: number,
  tid: number,
): Ending & { events: number } {
  const survey = new StreamSurvey(path, read, version, size);
  const { little, lastClock } = survey;
  const event = (mcv: string, payload: number): Buffer => {
    const bytes = Buffer.alloc(HEADER_BYTES + payload);
    bytes[0] = payloadSizeCode(payload);
    bytes.write(mcv, MCV_OFFSET, 'latin1');
    lastClock.copy(bytes, CLOCK_OFFSET);
    return bytes;
  };
  const i32 = (bytes: Buffer, value: number, at: number): void => {
    if (little) bytes.writeInt32LE(value, at);
    else bytes.writeInt32BE(value, at);
  };
  const regionEnd = survey.isUnordered ? [event('OU]', 0)] : [];
  const pops = survey.pushed.map(({ type, value }) => {
    const bytes = event('OM]', 12);
    value.copy(bytes, PAYLOAD_OFFSET);
    i32(bytes, type, PAYLOAD_OFFSET + 8);
    return bytes;
  });
  const steps = stepsToEnd(survey, version).map(([mcv, cpu]) => {
    const bytes = event(mcv, cpu === undefined ? 0 : mcv === 'OHx' ? 16 : 4);
    if (cpu !== undefined) i32(bytes, cpu, PAYLOAD_OFFSET);
    if (mcv === 'OHx') i32(bytes, tid, PAYLOAD_OFFSET + 4);
    return bytes;
  });
  return {
    end: survey.end,
    bytes: Buffer.concat([...regionEnd, ...pops, ...steps]),
    records: regionEnd.length + pops.length + steps.length,
    endedMarks: pops.length,
    events: survey.events,
  };
}
