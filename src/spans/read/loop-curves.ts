import type { EventPacket } from '../../heph/packet.js';
import type { RowCounter } from '../../rows/row-batch.js';
import {
  LOOP_BUSY,
  LOOP_CALLING,
  LOOP_CALLS,
  LOOP_COLLECTIONS,
  LOOP_DELAY,
  LOOP_DESCRIPTION,
  LOOP_DNS,
  LOOP_EXTERNAL,
  LOOP_GC,
  LOOP_GROUP,
  LOOP_HEAP,
  LOOP_HEAP_LIMIT,
  LOOP_KILLS,
  LOOP_LONGEST,
  LOOP_LOOK_UPS,
  LOOP_RSS,
  VERSION,
} from '../layout.js';

/** Figures of an event loop, from the start of a record to its end. A figure is undefined if it was not recorded. */
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
  /** Number of those. */
  collections: number | undefined;
  /** Number of DNS look-ups that have ended. */
  lookUps: number | undefined;
  /** Ns of a DNS look-up on average. */
  lookUp: number | undefined;
  /** Number of calls of libraries that no span asked for, and that have ended. */
  calls: number | undefined;
  /** Ns of those together. */
  calling: number | undefined;
  /** Bytes at its end: of the thread's heap, its limit, memory outside that it holds, and resident ones of the process. */
  heap: number | undefined;
  heapLimit: number | undefined;
  external: number | undefined;
  rss: number | undefined;
  /** Of the group that limits the memory of the process: bytes used, and processes killed for want of it. */
  group: number | undefined;
  kills: number | undefined;
}

/** The figures of an event loop in an event; undefined: it has none. */
export function loopFiguresOf(event: EventPacket): LoopFigures | undefined {
  const { description, attributes, start, end } = event;
  if (description !== LOOP_DESCRIPTION || attributes[0]?.name !== VERSION) return undefined;
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
    collections: valueOf(LOOP_COLLECTIONS),
    lookUps,
    lookUp: dns === undefined ? undefined : dns / Math.max(1, lookUps ?? 1),
    calls: valueOf(LOOP_CALLS),
    calling: valueOf(LOOP_CALLING),
    heap: valueOf(LOOP_HEAP),
    heapLimit: valueOf(LOOP_HEAP_LIMIT),
    external: valueOf(LOOP_EXTERNAL),
    rss: valueOf(LOOP_RSS),
    group: valueOf(LOOP_GROUP),
    kills: valueOf(LOOP_KILLS),
  };
}

/** Curves of calls of libraries that no span asked for: how many have ended, and their ns together. */
export const CALLS_OUTSIDE = 'calls outside spans';
export const TIME_OUTSIDE = 'time of calls outside spans';

/** The curve of how long an event at a random moment waits for the loop. */
export const LOOP_DELAY_CURVE = 'event loop delay';

/** The curve of the share of time in which a loop ran code. */
export const LOOP_BUSY_CURVE = 'event loop utilisation';

/** Curves of memory, which stays as it is while the loop waits. */
export const HEAP_USED = 'heap used';
export const HEAP_LIMIT_CURVE = 'heap limit';
export const EXTERNAL_MEMORY = 'memory outside of the heap';
export const RESIDENT_MEMORY = 'resident memory';
export const GROUP_MEMORY = 'memory of the cgroup';
export const GROUP_KILLS = 'processes killed in the cgroup';

/** Curves of an event loop: their figure, name and unit. A ratio is one of the window's time. */
const CURVES: readonly (readonly [figure: keyof LoopFigures, name: string, unit: string])[] = [
  ['busy', LOOP_BUSY_CURVE, 'ratio'],
  ['longest', 'event loop longest turn', 'ns'],
  ['delay', LOOP_DELAY_CURVE, 'ns'],
  ['gc', 'garbage collection', 'ratio'],
  ['lookUps', 'dns look-ups', ''],
  ['lookUp', 'dns look-up on average', 'ns'],
  ['calls', CALLS_OUTSIDE, ''],
  ['calling', TIME_OUTSIDE, 'ns'],
  ['heap', HEAP_USED, 'bytes'],
  ['heapLimit', HEAP_LIMIT_CURVE, 'bytes'],
  ['external', EXTERNAL_MEMORY, 'bytes'],
  ['rss', RESIDENT_MEMORY, 'bytes'],
  ['group', GROUP_MEMORY, 'bytes'],
  ['kills', GROUP_KILLS, 'kills'],
];
/** Units of what stays as it is while the loop waits. */
const STAYING: ReadonlySet<string> = new Set(['bytes', 'kills']);
/** A gap between windows below this share of them is none. */
const CONTIGUOUS = 0.1;

/** The curves of the event loops of a file. Where no record is the loop waited: all curves but those of memory are 0. */
export class LoopCurves {
  readonly #counters = new Map<string, RowCounter>();

  get all(): RowCounter[] {
    return [...this.#counters.values()];
  }

  /** Adds a record; one that says nothing of a loop adds nothing. Times are ns since the trace's epoch. */
  add(record: EventPacket): void {
    const { stream, start, end } = record;
    const figures = loopFiguresOf(record);
    if (figures === undefined || end <= start) return;
    for (const [figure, name, unit] of CURVES) {
      const recorded = figures[figure];
      if (recorded === undefined) continue;
      // The two clocks of a share are read one after the other.
      const value = unit === 'ratio' ? Math.min(1, recorded / figures.length) : recorded;
      const key = `${stream} ${name}`;
      const known = this.#counters.get(key);
      const counter = known ?? { thread: stream, name, unit, times: [], values: [] };
      this.#counters.set(key, counter);
      addWindow(counter, Number(start), Number(end), value, STAYING.has(unit) ? value : 0);
    }
  }
}

/** A window of the loop has a value from its start to its end, and `rest` afterwards. */
function addWindow(
  { times, values }: RowCounter,
  start: number,
  end: number,
  value: number,
  rest: number,
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
  values.push(value, rest);
}
