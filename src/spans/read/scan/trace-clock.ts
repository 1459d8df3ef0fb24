import {
  attributesAt,
  descriptionAt,
  EPOCH_OPTION,
  EPOCH_PACKET_BYTES,
  OPTION_NAME_OFFSET,
} from '../../../heph/layout.js';
import { CLOCK_DESCRIPTION } from '../../layout.js';
import { clockStep, insertStep, noPast, readClockRecord } from '../clock-record.js';
import type { ClockPast, ClockReading } from '../clock-record.js';

/** Jumps that are kept: spans may have begun before some of them. */
const MAX_JUMPS = 256;

/** What a worker needs to know of the records before its own. */
export interface ClockState {
  /** Of the first epoch packet, in ns since 1970. */
  epoch: bigint | undefined;
  /** What later epochs differ from the first, in ns. */
  shift: number;
  /** The wall clock against the trace's time: from which time on, and by how many ns. */
  jumps: readonly { from: number; offset: number }[];
  past: Readonly<ClockPast>;
}

/** Of a trace of which nothing has been read. */
export function noClock(): ClockState {
  return { epoch: undefined, shift: 0, jumps: [], past: noPast() };
}

/** When an event of a Heph file was: its time, the epochs and the clock records before it. */
export class TraceClock {
  #epoch: bigint | undefined;
  #shift: number;
  #jumps: { from: number; offset: number }[];
  #past: ClockPast;

  constructor({ epoch, shift, jumps, past } = noClock()) {
    this.#epoch = epoch;
    this.#shift = shift;
    this.#jumps = [...jumps];
    this.#past = { ...past };
  }

  get state(): ClockState {
    return {
      epoch: this.#epoch,
      shift: this.#shift,
      jumps: [...this.#jumps],
      past: { ...this.#past },
    };
  }

  get isPlain(): boolean {
    return this.#shift === 0 && this.#jumps.length === 0;
  }

  noteEpoch(epoch: bigint): void {
    this.#epoch ??= epoch;
    const shift = Number(epoch - this.#epoch);
    // A connection that is made again repeats it.
    if (shift === this.#shift) return;
    this.#shift = shift;
    this.#jumps = [];
    this.#past = { ...noPast(), delays: this.#past.delays };
  }

  noteClock(reading: ClockReading): void {
    const epoch = (this.#epoch ?? 0n) + BigInt(this.#shift);
    const offsetAt = (time: bigint): bigint => BigInt(this.#jumpAt(Number(time)));
    const step = clockStep(reading, epoch, offsetAt, this.#past);
    if (step === undefined) return;
    const jump = { from: Number(step.from), offset: Number(step.offset) };
    insertStep(this.#jumps, jump, MAX_JUMPS);
  }

  /** What is added to a time of the trace to have ns since its first epoch. */
  offsetAt(time: number): number {
    return this.#shift + this.#jumpAt(time);
  }

  #jumpAt(time: number): number {
    for (let i = this.#jumps.length - 1; i >= 0; i--) {
      if (this.#jumps[i]!.from <= time) return this.#jumps[i]!.offset;
    }
    return 0;
  }
}

const EPOCH_NAME = Buffer.from(EPOCH_OPTION);

/** Takes note of a metadata packet if it is the epoch's. */
export function noteEpoch(
  clock: TraceClock,
  bytes: Uint8Array,
  view: DataView,
  at: number,
  size: number,
): void {
  if (size !== EPOCH_PACKET_BYTES) return;
  const name = at + OPTION_NAME_OFFSET;
  if (view.getUint16(name) !== EPOCH_OPTION.length) return;
  if (!EPOCH_NAME.equals(bytes.subarray(name + 2, name + 2 + EPOCH_OPTION.length))) return;
  clock.noteEpoch(view.getBigUint64(name + 2 + EPOCH_OPTION.length));
}

const CLOCK_NAME = Buffer.from(CLOCK_DESCRIPTION);

/** Takes note of an event if it is a clock record. */
export function noteClock(
  clock: TraceClock,
  bytes: Uint8Array,
  view: DataView,
  at: number,
  end: number,
): void {
  const name = descriptionAt(at);
  const attributes = attributesAt(view, at);
  if (attributes - name !== CLOCK_NAME.length || attributes > end) return;
  const own = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (own.compare(CLOCK_NAME, 0, CLOCK_NAME.length, name, attributes) !== 0) return;
  const reading = readClockRecord(own, view, at, attributes, end);
  if (reading !== undefined) clock.noteClock(reading);
}
