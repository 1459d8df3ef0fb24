import { IndexRow, isError } from '../../index/index-row.js';
import type { Steps } from '../../index/turns.js';
import type { RowSelection } from '../measures/selection.js';
import type { InterruptionTally } from '../threads/interruptions.js';
import type { GroupTally, Grouping } from './groups.js';

/** Spans of a group to look at. Undefined: it has none such. */
export interface GroupExamples {
  /** Of the median duration. */
  typical: IndexRow | undefined;
  slowest: IndexRow | undefined;
  /** The slowest whose thread was never stalled meanwhile. */
  notBlocked: IndexRow | undefined;
  /** The last one that failed. */
  failed: IndexRow | undefined;
}

export function* examplesOf(
  { index }: RowSelection,
  grouping: Grouping,
  group: GroupTally,
  interruptions: InterruptionTally,
): Steps<GroupExamples> {
  const median = group.durations.percentile(50);
  const found: GroupExamples = {
    ...{ typical: undefined, slowest: undefined, notBlocked: undefined, failed: undefined },
  };
  let nearest = Infinity;
  for (const part of index.parts) {
    yield;
    const { rows, groups } = grouping.rowsOf(part);
    const { start, duration, flags, track, offset } = part;
    for (let i = 0; i < rows.length; i++) {
      if (grouping.tally(groups[i]!) !== group) continue;
      const at = rows[i]!;
      const length = duration[at]!;
      const begin = start[at]! + offset;
      if (Math.abs(length - median) < nearest) {
        nearest = Math.abs(length - median);
        found.typical = new IndexRow(part, at);
      }
      if (length > (found.slowest?.duration ?? -1)) found.slowest = new IndexRow(part, at);
      if (
        length > (found.notBlocked?.duration ?? -1) &&
        interruptions.overlap(track[at]!, begin, begin + length).stall === 0
      ) {
        found.notBlocked = new IndexRow(part, at);
      }
      if (isError(flags[at]!) && begin >= (found.failed?.start ?? -Infinity)) {
        found.failed = new IndexRow(part, at);
      }
    }
  }
  return found;
}
