import { GROUP_KILLS, GROUP_MEMORY } from '../../../spans/read/loop-curves.js';
import type { Counter, LookIndex, Source } from '../../index/look-index.js';
import type { MemoryEnd } from '../shape/report-shape.js';

/** Below it, memory was hardly why a process was killed. */
const LEAST_SHARE = 0.9;
/** Ns: the kernel may take so long to end what it kills. */
const DELAY = 1e9;

/** A group as its processes have recorded it, by the last value before and the first after a moment. */
class GroupCurve {
  readonly #counters: readonly Counter[];

  constructor(index: LookIndex, name: string, sources: readonly Source[]) {
    const numbers = new Set(sources.map(({ number }) => number));
    this.#counters = index.counters.filter(
      (each) => each.name === name && numbers.has(each.source),
    );
  }

  /** The last value of a source. */
  lastOf(source: number): number | undefined {
    const values = this.#counters.find((each) => each.source === source)?.values;
    // The last is that of the time after the last sample, and the same.
    return values?.at(-1);
  }

  /** The first sample that was taken after a time, and when. */
  after(time: number): { at: number; value: number } | undefined {
    const samples = this.#counters.flatMap(({ times, values }) => {
      // A value is that of the end of its second.
      const next = times.findIndex((at, i) => i > 0 && at > time);
      return next === -1 ? [] : { at: times[next]!, value: values[next - 1]! };
    });
    return samples.sort((a, b) => a.at - b.at)[0];
  }
}

/**
 * Processes that were killed while the memory of their group was near its limit, or of which another process of the
 * group, or a later one, knows that the kernel killed them for it. By number of the source.
 *
 * @param endOf when a source has ended, in ns of the index.
 */
export function memoryEnds(
  index: LookIndex,
  endOf: (source: number) => number,
): Map<number, MemoryEnd> {
  const found = new Map<number, MemoryEnd>();
  for (const source of index.sources) {
    const { memoryGroup, memoryLimit, host, state, number } = source;
    if (memoryGroup === undefined || state !== 'died') continue;
    const group = index.sources.filter(
      (each) => each.memoryGroup === memoryGroup && each.host === host,
    );
    const end = endOf(number);
    const kills = new GroupCurve(index, GROUP_KILLS, group);
    const before = kills.lastOf(number);
    const after = kills.after(end + DELAY);
    const more = after === undefined || before === undefined ? 0 : after.value - before;
    const dead = group.filter(
      (each) => each.state === 'died' && endOf(each.number) < (after?.at ?? 0),
    );
    const since = dead.filter((each) => (kills.lastOf(each.number) ?? 0) >= (before ?? 0));
    const used = new GroupCurve(index, GROUP_MEMORY, [source]).lastOf(number);
    const share = used === undefined || memoryLimit === undefined ? null : used / memoryLimit;
    // One kill of two dead processes may have been either.
    const isKilled = more >= since.length && more > 0;
    if (!isKilled && (share ?? 0) < LEAST_SHARE) continue;
    found.set(number, { limit: memoryLimit ?? null, share, isKilled });
  }
  return found;
}
