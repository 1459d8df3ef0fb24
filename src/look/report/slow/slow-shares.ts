import { rowAt } from '../../index/index-row.js';
import type { IndexPart, LookIndex } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import type { CalledThreads } from '../trees/called-threads.js';
import type { GroupTally, Grouping } from '../groups/groups.js';
import { isInterruption } from '../names/interruption-kinds.js';
import type { InterruptionTally } from '../threads/interruptions.js';
import { IntervalSet } from '../measures/interval-set.js';
import type { SlowShare } from '../shape/thread-shape.js';
import type { RowSelection } from '../measures/selection.js';

/** Groups of which the slow spans are looked at. */
const MAX_SLOW_GROUPS = 50;
/** From a call up to the requests that waited for it. */
const MOST_ANCESTORS = 32;
/** Calls of one step. */
const PIECE = 1 << 12;

interface GroupShare {
  /** The duration from which on a span is slow. */
  least: number;
  share: SlowShare;
}

/** How much of the time of the slow spans of each group stalls and collections explain. */
export function* slowShares(
  { index }: RowSelection,
  grouping: Grouping,
  interruptions: InterruptionTally,
  called: CalledThreads,
): Steps<SlowShare[]> {
  if (interruptions.isEmpty) return [];
  const shares = new Map<GroupTally, GroupShare>();
  for (const group of grouping.tallies.slice(0, MAX_SLOW_GROUPS)) {
    const { name, service, kind, system, durations } = group;
    if (isInterruption(name)) continue;
    const none = { count: 0, time: 0, stalls: 0, collections: 0, called: 0, either: 0 };
    shares.set(group, {
      least: durations.percentile(95),
      share: { name, service, kind, system, ...none },
    });
  }
  const waited = yield* waitsForCalled(index, grouping, called, shares);
  for (const part of index.parts) {
    yield;
    const { rows, groups } = grouping.rowsOf(part);
    if (rows.length === 0) continue;
    const { start, duration, offset, track, firstRow } = part;
    for (let i = 0; i < rows.length; i++) {
      const at = rows[i]!;
      const slow = shares.get(grouping.tally(groups[i]!));
      const length = duration[at]!;
      if (slow === undefined || length < slow.least) continue;
      const { share } = slow;
      const begin = start[at]! + offset;
      const end = begin + length;
      const own = interruptions.overlap(track[at]!, begin, end);
      const others = waited.size === 0 ? undefined : waited.get(firstRow + at);
      share.count++;
      share.time += length;
      share.stalls += own.stall;
      share.collections += own.collection;
      share.called += others?.overlap(begin, end) ?? 0;
      share.either +=
        others === undefined ? own.either : interruptions.unionWith(track[at]!, others, begin, end);
    }
  }
  return [...shares.values()].map(({ share }) => share);
}

/** By row of a slow span: when it waited for a called thread that was interrupted. */
function* waitsForCalled(
  index: LookIndex,
  grouping: Grouping,
  called: CalledThreads,
  shares: ReadonlyMap<GroupTally, GroupShare>,
): Steps<Map<number, IntervalSet>> {
  const waited = new Map<number, IntervalSet>();
  let calls = 0;
  for (const call of called.rows) {
    if (++calls % PIECE === 0) yield;
    const pauses = called.pausesDuring(call);
    let [from, to] = [-Infinity, Infinity];
    for (let row = call, steps = 0; row >= 0 && steps < MOST_ANCESTORS; steps++) {
      const { part, at, start, end, parent } = rowAt(index, row);
      // What is not waited for may go on after its parent.
      from = Math.max(from, start);
      to = Math.min(to, end);
      if (to <= from) break;
      if (isSlow(part, at, grouping, shares)) {
        const intervals = waited.get(row) ?? new IntervalSet();
        waited.set(row, intervals);
        for (const pause of pauses) {
          intervals.add(Math.max(from, pause.start), Math.min(to, pause.end));
        }
      }
      row = parent;
    }
  }
  return waited;
}

function isSlow(
  part: IndexPart,
  at: number,
  grouping: Grouping,
  shares: ReadonlyMap<GroupTally, GroupShare>,
): boolean {
  const tally = grouping.tallyAt(part, at);
  const slow = tally && shares.get(tally);
  return slow !== undefined && part.duration[at]! >= slow.least;
}
