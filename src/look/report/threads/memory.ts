import {
  EXTERNAL_MEMORY,
  HEAP_LIMIT_CURVE,
  HEAP_USED,
  RESIDENT_MEMORY,
} from '../../../spans/read/loop-curves.js';
import type { Counter, LookIndex, Track } from '../../index/look-index.js';
import { threadOfProcess } from '../recording/processes.js';
import type { RowSelection } from '../measures/selection.js';
import type { MemoryCurve, ThreadOfProcess } from '../shape/thread-shape.js';

const KINDS = [
  [HEAP_USED, 'heap'],
  [EXTERNAL_MEMORY, 'external'],
  [RESIDENT_MEMORY, 'resident'],
] as const;
/** Growth is a line through points: in a shorter time it says nothing. */
const LEAST_LENGTH = 60e9;
const HOUR = 3600e9;

/** How the memory of threads and processes went within the window, those that grew most first. */
export function memoryCurves(
  selection: Pick<RowSelection, 'index' | 'window' | 'curves'>,
): MemoryCurve[] {
  const { index, window } = selection;
  const { from, to } = window;
  const curves: MemoryCurve[] = [];
  const counters = KINDS.flatMap(([name, kind]) =>
    selection.curves(name).map((counter) => ({ counter, kind })),
  );
  for (const { counter, kind } of counters) {
    const { times, values } = counter;
    const points: [time: number, bytes: number][] = [];
    for (let at = 0; at < times.length; at++) {
      if (times[at]! >= from && times[at]! <= to) points.push([times[at]!, values[at]!]);
    }
    if (points.length === 0) continue;
    const bytes = points.map(([, value]) => value);
    const length = points.at(-1)![0] - points[0]![0];
    curves.push({
      ...threadOfCounter(index, counter),
      kind,
      first: bytes[0]!,
      last: bytes.at(-1)!,
      max: bytes.reduce((most, value) => Math.max(most, value)),
      limit: counter.name === HEAP_USED ? limitOfHeap(index, counter) : null,
      hourly: length < LEAST_LENGTH ? null : slope(points) * HOUR,
    });
  }
  return curves.sort((a, b) => b.last - b.first - (a.last - a.first));
}

/** The limit of the heap of a curve, in bytes; null: it was not recorded. */
export function limitOfHeap({ counters }: LookIndex, heap: Counter): number | null {
  const limit = counters.find(
    ({ name, source, thread }) =>
      name === HEAP_LIMIT_CURVE && source === heap.source && thread === heap.thread,
  );
  return limit?.values.at(-1) ?? null;
}

/** The thread of a curve. */
export function threadOfCounter(index: LookIndex, counter: Counter): ThreadOfProcess {
  const source = index.sources.find(({ number }) => number === counter.source)!;
  return threadOfProcess(source, trackOf(index, counter)?.name ?? String(counter.thread));
}

/** The track of its spans; undefined: it has none. */
export function trackOf({ tracks }: LookIndex, { source, thread }: Counter): Track | undefined {
  return tracks.find((each) => each.source === source && each.thread === thread);
}

/** Of the line that comes nearest to all points, by least squares. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  let [above, below] = [0, 0];
  for (const [x, y] of points) {
    above += (x - meanX) * (y - meanY);
    below += (x - meanX) ** 2;
  }
  return below === 0 ? 0 : above / below;
}
