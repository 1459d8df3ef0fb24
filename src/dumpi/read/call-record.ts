import type { CallFields, CallName, Status } from '../calls.js';

/** A reading of a clock. */
export interface ClockReading {
  /**
   * Whole seconds. A record has 16 bits of them over the bias of the body; past 65,535 s the reader
   * carries: where the trace has annotations that say that the seconds begin again, by these, and
   * otherwise because the calls of a body stand in the order in which they ended.
   */
  seconds: number;
  /** 0 to 999,999,999 in a sound trace. */
  nanoseconds: number;
}

/** When a call began and ended. */
export interface CallTimes {
  start: ClockReading;
  stop: ClockReading;
}

/** A performance counter at the entry and the exit of a call. */
export interface CounterReading {
  enter: bigint;
  exit: bigint;
}

/** One call as its record says it. */
export interface CallRecordOf<N extends CallName> {
  kind: 'call';
  /** Bytes from the start of the file. */
  offset: number;
  /** Bytes of the record. */
  size: number;
  label: number;
  name: N;
  /** Bits that say which parts the record has: see layout.ts. */
  mask: number;
  thread: number | undefined;
  /** CPU time that the process had used. */
  cpu: CallTimes | undefined;
  /** Time of day, or another clock of the host's. */
  wall: CallTimes | undefined;
  counters: CounterReading[] | undefined;
  /** The arguments. Names and values are in {@link CallFields}. */
  fields: CallFields<N>;
}

/** One call of any name: `name` decides what `fields` has. */
export type CallRecord = { [N in CallName]: CallRecordOf<N> }[CallName];

/** The seconds that the times of a body count from. */
export interface Biases {
  cpu: number;
  wall: number;
}

/** A value of a record's field as it was read. */
export type FieldValue =
  | number
  | bigint
  | string
  | Status
  | null
  | number[]
  | bigint[]
  | string[]
  | Status[]
  | number[][]
  | string[][];
