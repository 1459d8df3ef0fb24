import { addToList } from '../../../core/map-entries.js';
import { GROUP_KILLS, GROUP_MEMORY } from '../../../spans/read/loop-curves.js';
import type { Counter, LookIndex, Source } from '../../index/look-index.js';
import type { MemoryEnd } from '../shape/report-shape.js';

/** Below it, memory was hardly why a process was killed. */
const LEAST_SHARE = 0.9;
/** Ns: the kernel may take so long to end what it kills. */
const DELAY = 1e9;

/** By number of the source: its curve of a name. */
function curvesOf({ counters }: LookIndex, name: string): Map<number, Counter> {
  return new Map(counters.flatMap((each) => (each.name === name ? [[each.source, each]] : [])));
}

/** The last value of a curve, which is that of the last sample. */
function lastOf(curve: Counter | undefined): number | undefined {
  return curve?.values.at(-1);
}

/** The first sample of some curves that was taken after a time. */
function sampleAfter(
  curves: readonly Counter[],
  time: number,
): { at: number; value: number } | undefined {
  const samples = curves.flatMap(({ times, values }) => {
    // A value is that of the end of its second.
    const next = times.findIndex((at, i) => i > 0 && at > time);
    return next === -1 ? [] : { at: times[next]!, value: values[next - 1]! };
  });
  return samples.sort((a, b) => a.at - b.at)[0];
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
  const groups = new Map<string, Source[]>();
  for (const source of index.sources) {
    const { memoryGroup, host } = source;
    if (memoryGroup !== undefined) addToList(groups, `${memoryGroup} ${host ?? ''}`, source);
  }
  const kills = curvesOf(index, GROUP_KILLS);
  const used = curvesOf(index, GROUP_MEMORY);
  for (const group of groups.values()) {
    const dead = group.filter(({ state }) => state === 'died');
    const curves = group.flatMap(({ number }) => kills.get(number) ?? []);
    for (const { number, memoryLimit } of dead) {
      const before = lastOf(kills.get(number));
      const after = sampleAfter(curves, endOf(number) + DELAY);
      const more = after === undefined || before === undefined ? 0 : after.value - before;
      const since = dead.filter(
        (each) =>
          endOf(each.number) < (after?.at ?? 0) &&
          (lastOf(kills.get(each.number)) ?? 0) >= (before ?? 0),
      );
      const bytes = lastOf(used.get(number));
      const share = bytes === undefined || memoryLimit === undefined ? null : bytes / memoryLimit;
      // One kill of two dead processes may have been either.
      const isKilled = more >= since.length && more > 0;
      if (!isKilled && (share ?? 0) < LEAST_SHARE) continue;
      found.set(number, { limit: memoryLimit ?? null, share, isKilled });
    }
  }
  return found;
}
