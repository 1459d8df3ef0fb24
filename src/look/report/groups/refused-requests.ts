import { isRequest } from '../../index/index-row.js';
import type { RowSelection } from '../measures/selection.js';
import type { Steps } from '../../index/turns.js';
import { attributesOf } from '../names/recorded-attributes.js';
import type { GroupTally, Grouping } from './groups.js';
import { pieceOf } from './timeline.js';

/** Groups of which statuses are read, those with the most time first, and requests of each, taken evenly. */
const MOST_GROUPS = 20;
const MOST_READ = 100;
const STATUS = 'http.response.status_code';
const NEVER = 0x7fff_ffff;

/** Requests that were refused, with a status of 4xx: estimates from those that were read. */
export interface RefusedRequests {
  /** Of those of a group. */
  share: (tally: GroupTally) => number | null;
  /** How many in each piece of the timeline. */
  pieces: number[];
}

export function* refusedRequests(
  selection: RowSelection,
  grouping: Grouping,
): Steps<RefusedRequests> {
  const { index } = selection;
  const pieces: number[] = [];
  const wanted = grouping.tallies.slice(0, MOST_GROUPS);
  const samples = new Map(wanted.map((tally) => [tally, { answered: 0, refused: 0 }]));
  // By number of a group: of how many rows one is read, and how many come before the next.
  const steps = Int32Array.from({ length: grouping.size }, (_, number) => {
    const tally = grouping.tally(number);
    const count = tally.durations.count - tally.released;
    return samples.has(tally) ? Math.ceil(count / MOST_READ) : NEVER;
  });
  const left = steps.map((step) => (step === NEVER ? NEVER : Math.ceil(step / 2)));
  for (const part of index.parts) {
    yield;
    const { rows, groups } = grouping.rowsOf(part);
    for (let i = 0; i < rows.length; i++) {
      const number = groups[i]!;
      if (--left[number]! > 0) continue;
      left[number] = steps[number]!;
      if (!isRequest(part.flags[rows[i]!]!)) continue;
      const status = Number(attributesOf(index, part.firstRow + rows[i]!)(STATUS));
      const own = samples.get(grouping.tally(number));
      if (own === undefined || Number.isNaN(status)) continue;
      own.answered += 1;
      if (status < 400 || status >= 500) continue;
      own.refused += 1;
      const piece = pieceOf(part.start[rows[i]!]! + part.offset, selection);
      pieces[piece] = (pieces[piece] ?? 0) + steps[number]!;
    }
  }
  return {
    pieces,
    share: (tally) => {
      const { answered = 0, refused = 0 } = samples.get(tally) ?? {};
      return answered === 0 ? null : refused / answered;
    },
  };
}
