import { TraceFormatError } from '../../../core/errors.js';
import {
  LOOP_BUSY,
  LOOP_DELAY,
  LOOP_DESCRIPTION,
  LOOP_DNS,
  LOOP_GC,
  LOOP_LONGEST,
  LOOP_LOOK_UPS,
} from '../../../spans/layout.js';
import type { ReadCounter } from '../scan/chrome-scan.js';
import type { EventPacket } from '../../../heph/packet.js';
import type { RecordReader } from './record-reader.js';

/** By what a curve's value is divided: nothing, the window's nanoseconds, or the number of look-ups. */
type Divisor = 'one' | 'window' | typeof LOOP_LOOK_UPS;

/** Curves of an event loop: what they are called, their unit, and their value in a window. */
const CURVES: readonly (readonly [name: string, unit: string, field: string, per: Divisor])[] = [
  ['event loop utilisation', 'ratio', LOOP_BUSY, 'window'],
  ['event loop longest turn', 'ns', LOOP_LONGEST, 'one'],
  ['event loop delay', 'ns', LOOP_DELAY, 'one'],
  ['garbage collection', 'ratio', LOOP_GC, 'window'],
  ['dns look-ups', '', LOOP_LOOK_UPS, 'one'],
  ['dns look-up on average', 'ns', LOOP_DNS, LOOP_LOOK_UPS],
];
/** A gap between windows below this share of them is none. */
const CONTIGUOUS = 0.1;

/** The curves of the event loops of a file. */
export class LoopCounters {
  readonly #counters = new Map<string, ReadCounter>();

  get all(): ReadCounter[] {
    return [...this.#counters.values()];
  }

  /** Adds the records at some places. Those that are known add nothing. */
  add(reader: RecordReader, places: readonly number[]): void {
    for (const place of places) {
      try {
        if (reader.at(place)) this.#addRecord(reader.packet());
      } catch (error) {
        if (!(error instanceof TraceFormatError)) throw error;
      }
    }
  }

  #addRecord({ description, attributes, stream, start, end }: EventPacket): void {
    if (description !== LOOP_DESCRIPTION || end <= start) return;
    const valueOf = (field: string): number | undefined => {
      const value = attributes.find(({ name }) => name === field)?.value;
      return typeof value === 'bigint' ? Number(value) : undefined;
    };
    const divisors: Record<Divisor, number> = {
      one: 1,
      window: Number(end - start),
      lookups: Math.max(1, valueOf(LOOP_LOOK_UPS) ?? 1),
    };
    for (const [name, unit, field, per] of CURVES) {
      const sum = valueOf(field);
      if (sum === undefined) continue;
      const share = sum / divisors[per];
      // The two clocks of a share are read one after the other.
      const value = unit === 'ratio' ? Math.min(1, share) : share;
      const key = `${stream} ${name}`;
      const known = this.#counters.get(key);
      const counter = known ?? { thread: stream, name, unit, times: [], values: [] };
      this.#counters.set(key, counter);
      addWindow(counter, Number(start), Number(end), value);
    }
  }
}

/** Joins the curves of the pieces of a trace, in their order. */
export function joinCounters(pieces: readonly (readonly ReadCounter[])[]): readonly ReadCounter[] {
  if (pieces.length === 1) return pieces[0]!;
  const joined = new Map<string, ReadCounter>();
  for (const counter of pieces.flat()) {
    const key = `${counter.thread} ${counter.name}`;
    const known = joined.get(key);
    if (known === undefined) {
      joined.set(key, { ...counter, times: [...counter.times], values: [...counter.values] });
      continue;
    }
    for (const time of counter.times) known.times.push(time);
    for (const value of counter.values) known.values.push(value);
  }
  return [...joined.values()];
}

/** A window of the loop has a value from its start to its end. Without a window the loop waited. */
function addWindow(
  { times, values }: ReadCounter,
  start: number,
  end: number,
  value: number,
): void {
  const last = times.at(-1) ?? -Infinity;
  // A window can be written late: times ascend.
  if (start < last && end <= last) return;
  const from = Math.max(start, last);
  // The next window begins where this one ended, or nearly.
  if (from - last < (end - start) * CONTIGUOUS) {
    times.pop();
    values.pop();
    times.push(last, end);
  } else {
    times.push(from, end);
  }
  values.push(value, 0);
}
