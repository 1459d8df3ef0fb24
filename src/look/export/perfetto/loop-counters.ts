import type { EventPacket } from '../../../heph/packet.js';
import {
  LOOP_BUSY,
  LOOP_DELAY,
  LOOP_DESCRIPTION,
  LOOP_GC,
  LOOP_LONGEST,
  VERSION,
} from '../../../spans/layout.js';
import type { CounterUnit, PacketWriter } from './packet-writer.js';
import type { PictureProcess } from './picture.js';

/** Curves of a loop record: the attribute, the name and the unit. Their values are nanoseconds. */
const CURVES: readonly (readonly [attribute: string, name: string, unit: CounterUnit])[] = [
  [LOOP_BUSY, 'event loop busy', '%'],
  [LOOP_DELAY, 'event loop delay', 'ns'],
  [LOOP_LONGEST, 'event loop longest turn', 'ns'],
  [LOOP_GC, 'garbage collection', 'ns'],
];

/** Whether an event says what an event loop did. */
export function isLoopRecord({ description, attributes }: EventPacket): boolean {
  return description === LOOP_DESCRIPTION && attributes[0]?.name === VERSION;
}

/** Draws a loop record as counters of its thread. Without a record the loop waited: they are 0. */
export function drawLoopRecord(
  writer: PacketWriter,
  process: PictureProcess,
  thread: string,
  event: EventPacket,
  start: number,
  end: number,
): void {
  for (const [attribute, name, unit] of CURVES) {
    const found = event.attributes.find((each) => each.name === attribute)?.value;
    if (typeof found !== 'bigint') continue;
    const nanoseconds = Number(found);
    const value = unit === '%' ? (100 * nanoseconds) / Math.max(1, end - start) : nanoseconds;
    const track = process.counter(`${name} (${thread})`, unit);
    writer.counter(track, start, value);
    writer.counter(track, end, 0);
  }
}
