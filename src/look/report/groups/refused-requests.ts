import { isRequest } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import { attributesOf } from '../names/recorded-attributes.js';
import type { GroupTally, Grouping } from './groups.js';

/** Groups of which statuses are read, those with the most time first, and requests of each, taken evenly. */
const MOST_GROUPS = 20;
const MOST_READ = 100;
const STATUS = 'http.response.status_code';

/** Of each group the share of its requests that were refused, with a status of 4xx. */
export function* refusedShares(
  index: LookIndex,
  grouping: Grouping,
): Steps<(tally: GroupTally) => number | null> {
  const samples = new Map(
    grouping.tallies.slice(0, MOST_GROUPS).map((tally) => {
      const step = Math.max(1, (tally.durations.count - tally.released) / MOST_READ);
      return [tally, { step, next: step / 2, seen: 0, answered: 0, refused: 0 }];
    }),
  );
  const byNumber: (NonNullable<ReturnType<typeof samples.get>> | null)[] = [];
  for (const part of index.parts) {
    yield;
    const { rows, groups } = grouping.rowsOf(part);
    for (let i = 0; i < rows.length; i++) {
      const number = groups[i]!;
      const own = (byNumber[number] ??= samples.get(grouping.tally(number)) ?? null);
      if (own === null || ++own.seen <= own.next) continue;
      own.next += own.step;
      if (!isRequest(part.flags[rows[i]!]!)) continue;
      const status = Number(attributesOf(index, part.firstRow + rows[i]!)(STATUS));
      if (Number.isNaN(status)) continue;
      own.answered += 1;
      if (status >= 400 && status < 500) own.refused += 1;
    }
  }
  return (tally) => {
    const { answered = 0, refused = 0 } = samples.get(tally) ?? {};
    return answered === 0 ? null : refused / answered;
  };
}
