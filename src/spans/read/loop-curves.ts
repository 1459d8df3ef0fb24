import type { EventPacket } from '../../heph/packet.js';
import {
  LOOP_BUSY,
  LOOP_DELAY,
  LOOP_DESCRIPTION,
  LOOP_GC,
  LOOP_LONGEST,
  VERSION,
} from '../layout.js';

/** What a curve of an event loop counts: a share of the time, or nanoseconds. */
export type LoopUnit = '%' | 'ns';

/** The value of a curve from the start of a loop record to its end. */
export interface LoopValue {
  name: string;
  unit: LoopUnit;
  value: number;
}

/** Curves of a loop record: the attribute, the name and the unit. The attributes are nanoseconds. */
const CURVES: readonly (readonly [attribute: string, name: string, unit: LoopUnit])[] = [
  [LOOP_BUSY, 'event loop busy', '%'],
  [LOOP_DELAY, 'event loop delay', 'ns'],
  [LOOP_LONGEST, 'event loop longest turn', 'ns'],
  [LOOP_GC, 'garbage collection', 'ns'],
];

/** Whether an event says what an event loop did. */
export function isLoopRecord({ description, attributes }: EventPacket): boolean {
  return description === LOOP_DESCRIPTION && attributes[0]?.name === VERSION;
}

/** What a loop record says. Where there is none the loop waited: all curves are 0. */
export function loopValues({ attributes, start, end }: EventPacket): LoopValue[] {
  const length = Math.max(1, Number(end - start));
  const values: LoopValue[] = [];
  for (const [attribute, name, unit] of CURVES) {
    const found = attributes.find((each) => each.name === attribute)?.value;
    if (typeof found !== 'bigint') continue;
    const nanoseconds = Number(found);
    values.push({ name, unit, value: unit === '%' ? (100 * nanoseconds) / length : nanoseconds });
  }
  return values;
}
