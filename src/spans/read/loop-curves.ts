import type { EventPacket } from '../../heph/packet.js';
import {
  LOOP_BUSY,
  LOOP_DELAY,
  LOOP_DESCRIPTION,
  LOOP_DNS,
  LOOP_GC,
  LOOP_LONGEST,
  LOOP_LOOK_UPS,
  VERSION,
} from '../layout.js';

/** What a curve of an event loop counts: a share of the time, nanoseconds, or a number. */
export type LoopUnit = '%' | 'ns' | 'count';

/** The value of a curve from the start of a loop record to its end. */
export interface LoopValue {
  name: string;
  unit: LoopUnit;
  value: number;
}

/** The attribute, the name and the unit of a curve, and another attribute by which the value is divided. */
type Curve = readonly [attribute: string, name: string, unit: LoopUnit, per?: string];

const CURVES: readonly Curve[] = [
  [LOOP_BUSY, 'event loop busy', '%'],
  [LOOP_DELAY, 'event loop delay', 'ns'],
  [LOOP_LONGEST, 'event loop longest turn', 'ns'],
  [LOOP_GC, 'garbage collection', 'ns'],
  [LOOP_LOOK_UPS, 'dns look-ups', 'count'],
  [LOOP_DNS, 'dns look-up on average', 'ns', LOOP_LOOK_UPS],
];

/** Whether an event says what an event loop did. */
export function isLoopRecord({ description, attributes }: EventPacket): boolean {
  return description === LOOP_DESCRIPTION && attributes[0]?.name === VERSION;
}

/** What a loop record says. Where there is none the loop waited: all curves are 0. */
export function loopValues({ attributes, start, end }: EventPacket): LoopValue[] {
  const length = Math.max(1, Number(end - start));
  const valueOf = (wanted: string): number | undefined => {
    const found = attributes.find(({ name }) => name === wanted)?.value;
    return typeof found === 'bigint' ? Number(found) : undefined;
  };
  const values: LoopValue[] = [];
  for (const [attribute, name, unit, per] of CURVES) {
    const value = valueOf(attribute);
    if (value === undefined) continue;
    const divisor = per === undefined ? 1 : Math.max(1, valueOf(per) ?? 1);
    values.push({ name, unit, value: unit === '%' ? (100 * value) / length : value / divisor });
  }
  return values;
}
