import type { EventPacket } from '../../heph/packet.js';
import {
  LOOP_BUSY,
  LOOP_CALLING,
  LOOP_CALLS,
  LOOP_DELAY,
  LOOP_DESCRIPTION,
  LOOP_DNS,
  LOOP_GC,
  LOOP_LONGEST,
  LOOP_LOOK_UPS,
  VERSION,
} from '../layout.js';

/** What an event loop did from the start of a record to its end. A figure is undefined if it was not recorded. */
export interface LoopFigures {
  /** Of the record, in ns: at least 1. */
  length: number;
  /** Ns in which the loop ran code. */
  busy: number | undefined;
  /** How long an event at a random moment waited on average, in ns. */
  delay: number | undefined;
  /** The longest turn, in ns. */
  longest: number | undefined;
  /** Ns of garbage collections. */
  gc: number | undefined;
  /** Number of DNS look-ups that have ended. */
  lookUps: number | undefined;
  /** Ns of a DNS look-up on average. */
  lookUp: number | undefined;
  /** Number of calls of libraries that no span asked for, and that have ended. */
  calls: number | undefined;
  /** Ns of those together. */
  calling: number | undefined;
}

/** Whether an event says what an event loop did. */
export function isLoopRecord({ description, attributes }: EventPacket): boolean {
  return description === LOOP_DESCRIPTION && attributes[0]?.name === VERSION;
}

export function loopFigures({ attributes, start, end }: EventPacket): LoopFigures {
  const valueOf = (wanted: string): number | undefined => {
    const found = attributes.find(({ name }) => name === wanted)?.value;
    return typeof found === 'bigint' ? Number(found) : undefined;
  };
  const lookUps = valueOf(LOOP_LOOK_UPS);
  const dns = valueOf(LOOP_DNS);
  return {
    length: Math.max(1, Number(end - start)),
    busy: valueOf(LOOP_BUSY),
    delay: valueOf(LOOP_DELAY),
    longest: valueOf(LOOP_LONGEST),
    gc: valueOf(LOOP_GC),
    lookUps,
    lookUp: dns === undefined ? undefined : dns / Math.max(1, lookUps ?? 1),
    calls: valueOf(LOOP_CALLS),
    calling: valueOf(LOOP_CALLING),
  };
}

/** What a curve of an event loop counts: a share of the time, nanoseconds, or a number. */
export type LoopUnit = '%' | 'ns' | 'count';

/** The value of a curve from the start of a loop record to its end. */
export interface LoopValue {
  name: string;
  unit: LoopUnit;
  value: number;
}

const CURVES: readonly (readonly [figure: keyof LoopFigures, name: string, unit: LoopUnit])[] = [
  ['busy', 'event loop busy', '%'],
  ['delay', 'event loop delay', 'ns'],
  ['longest', 'event loop longest turn', 'ns'],
  ['gc', 'garbage collection', 'ns'],
  ['lookUps', 'dns look-ups', 'count'],
  ['lookUp', 'dns look-up on average', 'ns'],
  ['calls', 'calls outside spans', 'count'],
  ['calling', 'time of calls outside spans', 'ns'],
];

/** The curves of a loop record. Where there is none the loop waited: all curves are 0. */
export function loopValues(event: EventPacket): LoopValue[] {
  const figures = loopFigures(event);
  const values: LoopValue[] = [];
  for (const [figure, name, unit] of CURVES) {
    const value = figures[figure];
    if (value === undefined) continue;
    values.push({ name, unit, value: unit === '%' ? (100 * value) / figures.length : value });
  }
  return values;
}
