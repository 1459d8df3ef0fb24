import { LITTLE } from '../../core/byte-order.js';
import { outOfRange, wrongType } from '../../core/errors.js';
import { classNameOf, isDetached, lengthOf } from '../../core/typed-array.js';
import {
  CLOCK_OFFSET,
  HEADER_BYTES,
  headerOf,
  JUMBO_DATA_OFFSET,
  JUMBO_FLAG,
  JUMBO_LENGTH_BYTES,
  MAX_JUMBO_BYTES,
  MAX_PAYLOAD_BYTES,
  MIN_PAYLOAD_BYTES,
  PAYLOAD_OFFSET,
  payloadSizeCode,
} from '../layout.js';
import { commitEvent } from './stream-writer.js';
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
/** Those of events that the writer neither follows nor demands a payload of. */
const usualHeaders = new Map<string, number>();

/** The header of an MCV that was used before; 0 for another, and for one that {@link emitTo} looks at. */
export function usualHeader(mcv: unknown): number {
  return usualHeaders.get(mcv as string) ?? 0;
}

/**
 * By MCV: bytes of the payload without which the emulator refuses an event of ovni's own model, as the
 * catalog has them. The catalog is large, and few programs need it.
 */
const demands: ReadonlyMap<string, number> = new Map([
  ['OHx', 16],
  ['OHC', 12],
  ['OAs', 4],
  ['OAr', 8],
  ['OCn', 4],
  ['OM[', 12],
  ['OM]', 12],
  ['OM=', 12],
]);

/** Bytes that the payload of an event has at least. */
export function demandedBytes(mcv: string): number {
  return demands.get(mcv) ?? 0;
}

function headerWithoutFlags(mcv: string): number {
  let header = headers.get(mcv);
  if (header === undefined) {
    header = headerOf(0, checkMcv(mcv));
    headers.set(mcv, header);
    if (!isFollowed(header) && demandedBytes(mcv) === 0) usualHeaders.set(mcv, header);
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

const CATEGORY_BITS = 0x00ff_ff00;
/** `OH*`: thread states. */
const STATE_EVENT = headerOf(0, 'OH\0') & CATEGORY_BITS;
/** `OU[` and `OU]`: events whose clocks may be earlier than those before them. */
const REGION_EVENT = headerOf(0, 'OU\0') & CATEGORY_BITS;

/** Whether the event is one of a thread's state, by its header. */
function isStateEvent(header: number): boolean {
  return (header & CATEGORY_BITS) === STATE_EVENT;
}

/** Whether the writer follows the events of a header: a thread's state, and regions of unordered events. */
export function isFollowed(header: number): boolean {
  return isStateEvent(header) || (header & CATEGORY_BITS) === REGION_EVENT;
}

/**
 * Writes a normal event to `stream`.
 *
 * @see emit in index.ts, which states the contract.
 * @param call the caller, for the error `ERR_ORDER` of a closed stream.
 */
export function emitTo(
  stream: StreamWriter,
  mcv: string,
  payload: Uint8Array | undefined,
  clock: bigint | undefined,
  call = 'emit',
): void {
  const header = headerWithoutFlags(mcv);
  const data = payload ?? EMPTY;
  const count = checkedLength('payload', data);
  if (count !== 0 && (count < MIN_PAYLOAD_BYTES || count > MAX_PAYLOAD_BYTES)) {
    throw outOfRange('payload', payload, '0 or 2 to 16 bytes');
  }
  if (clock !== undefined) checkClock(clock);
  stream.begin();
  const state = isStateEvent(header) ? stream.stateAfter(mcv) : undefined;
  const demanded = demandedBytes(mcv);
  if (count < demanded) {
    throw outOfRange('payload', payload, `${demanded} bytes, which the emulator demands of ${mcv}`);
  }
  const { ring } = stream;
  const bytes = HEADER_BYTES + count;
  if (ring.free < bytes) {
    if (state === undefined) {
      // Without its end a region would have all events that follow.
      const room =
        mcv === 'OU]' ? stream.forceRoom(call, bytes, clock) : stream.makeRoom(call, bytes, clock);
      if (!room) return;
    } else if (!stream.forceRoom(call, bytes, clock)) {
      stream.oweState(state, mcv === 'OHx' ? new Uint8Array(data) : undefined);
      return;
    }
  }
  const at = ring.position;
  ring.view.setUint32(at, header | payloadSizeCode(count), true);
  for (let i = 0; i < count; i++) ring.bytes[at + PAYLOAD_OFFSET + i] = data[i]!;
  // The marks of a region are in order themselves.
  commitEvent(ring, bytes, clock, stream.unordered && mcv !== 'OU]');
  if (state !== undefined) stream.settle(state);
  else if (mcv === 'OU[' || mcv === 'OU]') stream.unordered = mcv === 'OU[';
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
  stream.begin();
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
  commitEvent(ring, bytes, clock, stream.unordered);
}
