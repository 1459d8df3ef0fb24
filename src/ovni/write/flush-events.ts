import { LITTLE } from '../../core/byte-order.js';
import type { Ring } from '../../core/ring/ring.js';
import { CLOCK_OFFSET, HEADER_BYTES, headerOf } from '../layout.js';

const BEGIN = headerOf(0, 'OF[');
const END = headerOf(0, 'OF]');

/** Bytes of the two events that record a flush. */
export const FLUSH_EVENTS_BYTES = 2 * HEADER_BYTES;

/**
 * Records for which time the thread wrote its ring out. Both events are one commit, because a thread
 * can be terminated between two.
 *
 * @param times low and high halves of the first and the last nanosecond.
 */
export function recordFlush(ring: Ring, times: Uint32Array): void {
  const { position } = ring;
  writeEvent(ring, position, BEGIN, times[0]!, times[1]!);
  writeEvent(ring, position + HEADER_BYTES, END, times[2]!, times[3]!);
  ring.commitExplicit(FLUSH_EVENTS_BYTES, HEADER_BYTES);
}

function writeEvent(
  { view }: Ring,
  at: number,
  header: number,
  first: number,
  second: number,
): void {
  view.setUint32(at, header, true);
  // The halves of a u64 in the machine's order, in which the core has stored them.
  view.setUint32(at + CLOCK_OFFSET, first, LITTLE);
  view.setUint32(at + CLOCK_OFFSET + 4, second, LITTLE);
}
