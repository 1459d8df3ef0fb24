import { TraceFormatError } from '../../../core/errors.js';
import type { EventPacket } from '../../../heph/packet.js';
import { isLoopRecord, loopFigures } from '../../../spans/read/loop-curves.js';
import type { LoopFigures } from '../../../spans/read/loop-curves.js';
import type { RowCounter } from '../../../rows/row-batch.js';
import { CALLS_OUTSIDE, TIME_OUTSIDE } from '../look-index.js';
import type { RecordReader } from './record-reader.js';

/** Curves of an event loop: their figure, name and unit. A ratio is one of the window's time. */
const CURVES: readonly (readonly [figure: keyof LoopFigures, name: string, unit: string])[] = [
  ['busy', 'event loop utilisation', 'ratio'],
  ['longest', 'event loop longest turn', 'ns'],
  ['delay', 'event loop delay', 'ns'],
  ['gc', 'garbage collection', 'ratio'],
  ['lookUps', 'dns look-ups', ''],
  ['lookUp', 'dns look-up on average', 'ns'],
  ['calls', CALLS_OUTSIDE, ''],
  ['calling', TIME_OUTSIDE, 'ns'],
];
/** A gap between windows below this share of them is none. */
const CONTIGUOUS = 0.1;

/** The curves of the event loops of a file. */
export class LoopCounters {
  readonly #counters = new Map<string, RowCounter>();

  get all(): RowCounter[] {
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

  #addRecord(record: EventPacket): void {
    const { stream, start, end } = record;
    if (!isLoopRecord(record) || end <= start) return;
    const figures = loopFigures(record);
    for (const [figure, name, unit] of CURVES) {
      const recorded = figures[figure];
      if (recorded === undefined) continue;
      // The two clocks of a share are read one after the other.
      const value = unit === 'ratio' ? Math.min(1, recorded / figures.length) : recorded;
      const key = `${stream} ${name}`;
      const known = this.#counters.get(key);
      const counter = known ?? { thread: stream, name, unit, times: [], values: [] };
      this.#counters.set(key, counter);
      addWindow(counter, Number(start), Number(end), value);
    }
  }
}

/** Joins the curves of the stretches of a trace, in their order. */
export function joinCounters(stretches: readonly (readonly RowCounter[])[]): readonly RowCounter[] {
  if (stretches.length === 1) return stretches[0]!;
  const joined = new Map<string, RowCounter>();
  for (const counter of stretches.flat()) {
    const key = `${counter.process?.pid} ${counter.thread} ${counter.name}`;
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
function addWindow({ times, values }: RowCounter, start: number, end: number, value: number): void {
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
