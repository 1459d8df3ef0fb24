import { START_OFFSET } from '../../heph/layout.js';
import { CLOCK_JUMP, CLOCK_MONOTONIC, CLOCK_REAL, CLOCK_TIME, VERSION } from '../layout.js';
import type { RecordedAttributes, RecordedValue } from '../span-record.js';
import { AttributeCursor } from './attribute-cursor.js';

/** Steps that are kept: spans may have begun before some of them. */
const MAX_STEPS = 256;

/** What a file says of the wall clock: where its own time begins, and when the clock has jumped since. */
export class WallClock {
  #epoch = 0n;
  #steps: ClockStep[] = [];
  #past = noPast();

  /** The trace's time 0, in nanoseconds since 1970. */
  get epoch(): bigint {
    return this.#epoch;
  }

  set epoch(value: bigint) {
    // A connection that is made again repeats it.
    if (value === this.#epoch) return;
    this.#epoch = value;
    this.#steps = [];
    this.#past = noPast();
  }

  /** Whether it has jumped, so that times differ from those since the epoch. */
  get hasJumps(): boolean {
    return this.#steps.length > 0;
  }

  /** Takes note of a clock record. */
  read(reading: ClockReading): void {
    const step = clockStep(reading, this.#epoch, (time) => this.#stepAt(time), this.#past);
    if (step !== undefined) insertStep(this.#steps, step, MAX_STEPS);
  }

  /** What is to be added to a time of the trace, for nanoseconds since 1970. */
  offsetAt(time: bigint): bigint {
    return this.#steps.length === 0 ? this.#epoch : this.#epoch + this.#stepAt(time);
  }

  #stepAt(time: bigint): bigint {
    for (let i = this.#steps.length - 1; i >= 0; i--) {
      if (this.#steps[i]!.from <= time) return this.#steps[i]!.offset;
    }
    return 0n;
  }
}

/** The first version whose records say which moment of the trace the readings are of. */
const TIMED_VERSION = 2;
/** What can lie between readings and the start of a record of version 1, in ns. */
const MAX_DELAY = 10_000_000_000n;

/** What a clock record says. Integers of 64 bits, nanoseconds each. */
export interface ClockReading {
  /** The start of the record, since the trace's epoch: some time after the readings. */
  readonly start: bigint;
  /** Since 1970. */
  readonly real: bigint;
  readonly monotonic: bigint | undefined;
  /** Since the trace's epoch, of the same moment; undefined: the record is of version 1. */
  readonly time: bigint | undefined;
}

/** From a moment of the trace on, what is added to its times, beyond the epoch. */
interface ClockStep {
  readonly from: bigint;
  readonly offset: bigint;
}

/** What earlier clock records of the trace have said. */
export interface ClockPast {
  /** The monotonic clock at time 0, by the records of version 1: no earlier than that. */
  zero: bigint | undefined;
  /** Shifts that were taken for the time between readings and record. */
  delays: number;
}

/** A past of no records. */
export function noPast(): ClockPast {
  return { zero: undefined, delays: 0 };
}

function word(value: RecordedValue | undefined): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

const own = (attributes: RecordedAttributes, name: string): RecordedValue | undefined =>
  Object.hasOwn(attributes, name) ? attributes[name] : undefined;

/** The readings of a clock record by its attributes; undefined: it is not as the contract says. */
export function readingOf(
  start: bigint,
  version: number,
  attributes: RecordedAttributes,
): ClockReading | undefined {
  const real = word(own(attributes, CLOCK_REAL));
  const monotonic = word(own(attributes, CLOCK_MONOTONIC));
  const isTimed = version >= TIMED_VERSION;
  const time = isTimed ? word(own(attributes, CLOCK_TIME)) : undefined;
  if (real === undefined || (isTimed && time === undefined)) return undefined;
  return { start, real, monotonic, time };
}

const attributes = new AttributeCursor();

/**
 * The readings of a clock record that lies in bytes `at` to `end`, with attributes from `from` on; undefined: it is not
 * as the contract says.
 */
export function readClockRecord(
  bytes: Buffer,
  view: DataView,
  at: number,
  from: number,
  end: number,
): ClockReading | undefined {
  const values: RecordedAttributes = {};
  let version = 0;
  try {
    attributes.set(bytes, view, from, end);
    while (attributes.next()) {
      if (attributes.code === 0) attributes.put(values);
      else if (attributes.code === VERSION.charCodeAt(1)) version = attributes.number();
      else attributes.value();
    }
  } catch {
    return undefined;
  }
  return readingOf(view.getBigUint64(at + START_OFFSET), version, values);
}

/**
 * The step that a clock record shows; undefined: the clock goes as before. The start of a record of version 2 does not
 * count. That of version 1 lies after its readings by an unknown time, so that a clock seems to be set back.
 *
 * @param epoch nanoseconds since 1970 at time 0.
 * @param offsetAt what the steps so far add to a time of the trace.
 * @param past takes note of the record.
 */
export function clockStep(
  { start, real, monotonic, time }: ClockReading,
  epoch: bigint,
  offsetAt: (time: bigint) => bigint,
  past: ClockPast,
): ClockStep | undefined {
  let from = time ?? start;
  const isFirst = past.zero === undefined;
  if (time === undefined && monotonic !== undefined) {
    // The less time lies between, the later is the zero: the least delay so far is none.
    const zero = monotonic - start;
    if (past.zero === undefined || zero > past.zero) past.zero = zero;
    from = monotonic - past.zero;
  }
  const offset = real - epoch - from;
  const change = offset - offsetAt(from);
  if (change < CLOCK_JUMP && change > -CLOCK_JUMP) return undefined;
  if (time === undefined && isFirst && change < 0n && change > -MAX_DELAY) {
    // A further record confirms it, or not.
    past.delays++;
    return undefined;
  }
  return { from, offset };
}

/** Puts a step among others, which are in the order of their times. */
export function insertStep<Step extends { from: number | bigint }>(
  steps: Step[],
  step: Step,
  most: number,
): void {
  let at = steps.length;
  while (at > 0 && steps[at - 1]!.from > step.from) at--;
  steps.splice(at, 0, step);
  if (steps.length > most) steps.shift();
}
