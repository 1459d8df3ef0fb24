import { addToList } from '../../../core/map-entries.js';
import { counted } from '../../../core/readable-text.js';
import type { IndexRow } from '../../index/index-row.js';
import { durationText } from '../measures/units.js';
import { rowName } from '../names/row-name.js';
import { ofService } from './evidence.js';
import type { Rule } from './evidence.js';

const LEAST_CALLS = 5;
/** Ns. */
const LEAST_TIME = 500e6;
/** How far the times may be apart, and of the calls that failed late the part that must be so close. */
const MOST_APART = 1.02;
const LEAST_PART = 0.6;

/** Calls fail after the same time: it is a timeout, and the callee does not answer. */
export const constantTimeout: Rule = {
  name: 'constant timeout',
  find({ failedCalls, window, index }) {
    const byCallee = new Map<string, IndexRow[]>();
    for (const call of failedCalls) {
      if (call.duration < LEAST_TIME) continue;
      addToList(byCallee, `${call.service}\n${call.system}\n${rowName(index, call.row)}`, call);
    }
    return [...byCallee.values()].flatMap((calls) => {
      const same = closest(calls);
      const [first] = same;
      if (first === undefined || same.length < Math.max(LEAST_CALLS, LEAST_PART * calls.length)) {
        return [];
      }
      if (!window.hasInTwo(same.map(({ start }) => start))) return [];
      const { service, traceId, duration } = same[same.length >> 1]!;
      return {
        rule: 'constant timeout',
        loss: 'requests',
        lost: same.length,
        service,
        text: `${rowName(index, first.row)}${ofService(service)} fails after ${durationText(duration)} each time: a timeout`,
        evidence: `${counted(same.length, 'call')}, ${durationText(first.duration)} to ${durationText(same.at(-1)!.duration)}`,
        trace: traceId,
        section: 'errors',
        where: [],
      };
    });
  },
};

/** The most calls whose times are close to each other, by their time. */
function closest(calls: readonly IndexRow[]): IndexRow[] {
  const sorted = calls.toSorted((a, b) => a.duration - b.duration);
  let [from, best, most] = [0, 0, 0];
  for (let to = 0; to < sorted.length; to++) {
    while (sorted[to]!.duration > MOST_APART * sorted[from]!.duration) from++;
    if (to - from + 1 > most) [best, most] = [from, to - from + 1];
  }
  return sorted.slice(best, best + most);
}
