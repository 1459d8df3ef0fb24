import { outOfRange, wrongType } from '../../core/errors.js';
import { classNameOf, isDetached, lengthOf } from '../../core/typed-array.js';
import { buildEmitter } from '../../core/ring/emitter-builder.js';
import {
  CLOCK_OFFSET,
  HEADER_BYTES,
  headerOf,
  JUMBO_DATA_OFFSET,
  JUMBO_FLAG,
  JUMBO_LENGTH_BYTES,
  LITTLE,
  MAX_JUMBO_BYTES,
  MAX_PAYLOAD_BYTES,
  MIN_PAYLOAD_BYTES,
  PAYLOAD_OFFSET,
  payloadSizeCode,
} from '../layout.js';
import { clockBackwards } from './stream-writer.js';
import type { StreamWriter } from './stream-writer.js';

const MAX_U64 = 0xffff_ffff_ffff_ffffn;
const EMPTY = new Uint8Array(0);

function checkMcv(mcv: unknown): string {
  const limit = 'three printable ASCII characters';
  if (typeof mcv !== 'string') throw wrongType('mcv', mcv, limit);
  if (!/^[\x21-\x7e]{3}$/.test(mcv)) throw outOfRange('mcv', mcv, limit);
  return mcv;
}

/** Regular expressions are slow and MCVs few, so each is checked once. */
const headers = new Map<string, number>();

function headerWithoutFlags(mcv: string): number {
  let header = headers.get(mcv);
  if (header === undefined) {
    header = headerOf(0, checkMcv(mcv));
    headers.set(mcv, header);
  }
  return header;
}

function checkClock(clock: unknown): bigint {
  const limit = 'a bigint from 0 to 2^64 - 1';
  if (typeof clock !== 'bigint') throw wrongType('clock', clock, limit);
  if (clock < 0n || clock > MAX_U64) throw outOfRange('clock', clock, limit);
  return clock;
}

/** Bytes of a Uint8Array, whatever its own properties say. */
function checkedLength(field: string, data: unknown): number {
  if (classNameOf.call(data) !== 'Uint8Array') throw wrongType(field, data, 'a Uint8Array');
  if (isDetached(data as Uint8Array)) {
    throw outOfRange(field, data, 'an array whose buffer is not detached');
  }
  return lengthOf.call(data);
}

/** `OH*`: thread states. */
const STATE_EVENT = headerOf(0, 'OH\0') & 0x00ff_ff00;

/** Whether the event is one of a thread's state, by its header. */
export function isStateEvent(header: number): boolean {
  return (header & 0x00ff_ff00) === STATE_EVENT;
}

/**
 * Writes a normal event to `stream`.
 *
 * @see emit in index.ts, which states the contract.
 */
export function emitTo(
  stream: StreamWriter,
  mcv: string,
  payload: Uint8Array | undefined,
  clock: bigint | undefined,
): void {
  const header = headerWithoutFlags(mcv);
  const data = payload ?? EMPTY;
  const count = checkedLength('payload', data);
  if (count !== 0 && (count < MIN_PAYLOAD_BYTES || count > MAX_PAYLOAD_BYTES)) {
    throw outOfRange('payload', payload, '0 or 2 to 16 bytes');
  }
  if (clock !== undefined) checkClock(clock);
  const state = isStateEvent(header) ? stream.stateAfter(mcv) : undefined;
  const { ring } = stream;
  const bytes = HEADER_BYTES + count;
  if (ring.free < bytes) {
    if (state === undefined) {
      if (!stream.makeRoom('emit', bytes, clock)) return;
    } else if (!stream.forceRoom('emit', bytes, clock)) {
      stream.oweState(state, mcv === 'OHx' ? new Uint8Array(data) : undefined);
      return;
    }
  }
  const at = ring.position;
  ring.view.setUint32(at, header | payloadSizeCode(count), true);
  for (let i = 0; i < count; i++) ring.bytes[at + PAYLOAD_OFFSET + i] = data[i]!;
  if (clock === undefined) {
    ring.advance(bytes);
    ring.commit();
  } else {
    ring.view.setBigUint64(at + CLOCK_OFFSET, clock, LITTLE);
    if (!ring.commitExplicit(bytes)) clockBackwards(clock);
  }
  if (state !== undefined) stream.settle(state);
}

/**
 * Writes a jumbo event to `stream`.
 *
 * @see emitJumbo in index.ts, which states the contract.
 * @param call the caller, for the error `ERR_ORDER` of a closed stream.
 */
export function emitJumboTo(
  stream: StreamWriter,
  mcv: string,
  data: Uint8Array,
  clock: bigint | undefined,
  call = 'emitJumbo',
): void {
  const header = headerWithoutFlags(mcv) | JUMBO_FLAG | payloadSizeCode(JUMBO_LENGTH_BYTES);
  const count = checkedLength('data', data);
  if (count > MAX_JUMBO_BYTES) throw outOfRange('data', data, '0 to 2^32 - 1 bytes');
  if (clock !== undefined) checkClock(clock);
  const { ring } = stream;
  const bytes = JUMBO_DATA_OFFSET + count;
  if (ring.isOpen && bytes > ring.longestRecord) {
    const head = Buffer.alloc(JUMBO_DATA_OFFSET);
    head.writeUInt32LE(header >>> 0, 0);
    const view = new DataView(head.buffer, head.byteOffset, head.length);
    view.setUint32(PAYLOAD_OFFSET, count, LITTLE);
    if (clock !== undefined) view.setBigUint64(CLOCK_OFFSET, clock, LITTLE);
    stream.writeThrough(head, data, clock);
    return;
  }
  if (ring.free < bytes && !stream.makeRoom(call, bytes, clock)) return;
  const at = ring.position;
  ring.view.setUint32(at, header, true);
  ring.view.setUint32(at + PAYLOAD_OFFSET, count, LITTLE);
  ring.bytes.set(data, at + JUMBO_DATA_OFFSET);
  if (clock === undefined) {
    ring.advance(bytes);
    ring.commit();
  } else {
    ring.view.setBigUint64(at + CLOCK_OFFSET, clock, LITTLE);
    if (!ring.commitExplicit(bytes)) clockBackwards(clock);
  }
}

/** An MCV, a payload or data, and a clock. */
type Emit<Data> = (mcv: string, data: Data, clock?: bigint) => void;

/** The header of an MCV that was used before; 0 for another, and for a state event. */
function usualHeader(mcv: unknown): number {
  const header = headers.get(mcv as string) ?? 0;
  return isStateEvent(header) ? 0 : header;
}

/** Most events repeat the MCV before them, so one is remembered. */
const REMEMBERED_HEADER = `let lastMcv = '';
let lastHeader = 0;
function lookUp(mcv) {
  const found = usualHeader(mcv);
  if (found !== 0) {
    lastMcv = mcv;
    lastHeader = found;
  }
  return found;
}`;
const FIND_HEADER = 'const header = mcv === lastMcv ? lastHeader : lookUp(mcv);';

/**
 * Makes the function that writes normal events to `stream`.
 *
 * @see emit in index.ts, which states the contract.
 */
export function compileEmit(stream: StreamWriter): Emit<Uint8Array | undefined> {
  return buildEmitter<[string, Uint8Array | undefined, bigint?]>(
    stream,
    {
      name: 'emit',
      parameters: ['mcv', 'payload', 'clock'],
      functions: REMEMBERED_HEADER,
      prepare: `${FIND_HEADER}
  let count = 0;`,
      // An empty array may be a detached one. V8 inlines the length of what has an element.
      test: `clock === undefined && header !== 0 && (payload === undefined ||
    classNameOf.call(payload) === 'Uint8Array' && payload[0] !== undefined &&
    (count = lengthOf.call(payload)) <= ${MAX_PAYLOAD_BYTES} && count !== 1)`,
      bytes: `${HEADER_BYTES} + count`,
      // A call to copy so few bytes would cost more than their loads do.
      write: `if (count === 0) view.setUint32(start, header, true);
  else {
    view.setUint32(start, header | count - 1, true);
    let i = 0;
    for (; i + 4 <= count; i += 4) {
      const word = payload[i] | payload[i + 1] << 8 | payload[i + 2] << 16 | payload[i + 3] << 24;
      view.setInt32(start + i + ${PAYLOAD_OFFSET}, word, true);
    }
    for (; i < count; i++) bytes[start + i + ${PAYLOAD_OFFSET}] = payload[i];
  }`,
      size: `${HEADER_BYTES} + count`,
      scope: { classNameOf, lengthOf, usualHeader },
    },
    (mcv, payload, clock) => {
      emitTo(stream, mcv, payload, clock);
    },
  );
}

/**
 * Makes the function that writes jumbo events to `stream`.
 *
 * @see emitJumbo in index.ts, which states the contract.
 */
export function compileEmitJumbo(stream: StreamWriter): Emit<Uint8Array> {
  return buildEmitter<[string, Uint8Array, bigint?]>(
    stream,
    {
      name: 'emitJumbo',
      parameters: ['mcv', 'data', 'clock'],
      functions: REMEMBERED_HEADER,
      prepare: `${FIND_HEADER}
  let count;`,
      test: `clock === undefined && header !== 0 && classNameOf.call(data) === 'Uint8Array' &&
    data[0] !== undefined && (count = lengthOf.call(data)) <= longestData`,
      bytes: `${JUMBO_DATA_OFFSET} + count`,
      write: `view.setUint32(start, header | ${JUMBO_FLAG | payloadSizeCode(JUMBO_LENGTH_BYTES)}, true);
  view.setUint32(start + ${PAYLOAD_OFFSET}, count, ${LITTLE});
  bytes.set(data, start + ${JUMBO_DATA_OFFSET});`,
      size: `${JUMBO_DATA_OFFSET} + count`,
      scope: ({ longestRecord }) => ({
        classNameOf,
        lengthOf,
        usualHeader,
        longestData: longestRecord - JUMBO_DATA_OFFSET,
      }),
    },
    (mcv, data, clock) => {
      emitJumboTo(stream, mcv, data, clock);
    },
  );
}
