import type { EventPacket } from '../../../heph/packet.js';
import { loopValues } from '../../../spans/read/loop-curves.js';
import type { PacketWriter } from './packet-writer.js';
import type { PictureProcess } from './picture.js';

/** Draws a loop record as counters of its thread. */
export function drawLoopRecord(
  writer: PacketWriter,
  process: PictureProcess,
  thread: string,
  event: EventPacket,
  start: number,
  end: number,
): void {
  for (const { name, unit, value } of loopValues(event)) {
    const track = process.counter(`${name} (${thread})`, unit);
    writer.counter(track, start, value);
    writer.counter(track, end, 0);
  }
}
