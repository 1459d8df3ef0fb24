import { ofService } from '../names/request-name.js';
import { LOOP_BUSY_CURVE, LOOP_DELAY_CURVE } from '../../../spans/read/loop-curves.js';
import type { Counter } from '../../index/look-index.js';
import { weightedPercentile } from '../groups/callees.js';
import { durationText, shareText } from '../measures/units.js';
import { threadOfCounter, trackOf } from '../threads/memory.js';
import type { Rule } from './evidence.js';

const LEAST_BUSY = 0.9;
/** For so many ns in a row. */
const LEAST_TIME = 10e9;
/** A loop that rests for less than so many ns has no rest. */
const MOMENT = 500e6;
/** Ns, the p95 of the delays meanwhile. */
const LEAST_DELAY = 20e6;

interface Stretch {
  from: number;
  to: number;
}

/** An event loop has no time left, and events wait for it. */
export const loopUsedUp: Rule = {
  name: 'loop used up',
  find(evidence) {
    const { index, window, interruptions, withoutCpu } = evidence;
    const delays = evidence.selection.curves(LOOP_DELAY_CURVE);
    return evidence.selection.curves(LOOP_BUSY_CURVE).flatMap((busy) => {
      const delay = delays.find(
        ({ source, thread }) => source === busy.source && thread === busy.thread,
      );
      if (delay === undefined) return [];
      const used = busyStretches(busy, window.from, window.to);
      const waits = used.flatMap(({ from, to }) => valuesIn(delay, from, to));
      const p95 = weightedPercentile(
        waits.map((wait) => [wait, 1] as const),
        95,
      );
      const { number = -1 } = trackOf(index, busy) ?? {};
      const time = used.reduce((sum, { from, to }) => sum + to - from, 0);
      const of = index.sources[busy.source]!;
      // Collections and neighbours on the machine are reasons of their own.
      const lost = used.reduce((sum, { from, to }) => {
        const { collection } = interruptions.overlap(number, from, to);
        return sum - collection - withoutCpu.overlap(of, from, to);
      }, time);
      if (
        lost < LEAST_TIME ||
        p95 < LEAST_DELAY ||
        !window.hasInTwo(used.flatMap(({ from, to }) => [from, to - 1]))
      ) {
        return [];
      }
      const { service, thread } = threadOfCounter(index, busy);
      return {
        rule: 'loop used up',
        loss: 'time',
        lost,
        service,
        text: `the event loop of thread ${thread}${ofService(service)} is used up: events wait ${durationText(p95)} (p95)`,
        evidence: `it is busy for ${shareText(LEAST_BUSY)} or more in ${durationText(time)} of ${durationText(window.length)}`,
        trace: null,
        section: 'threads',
        where: [],
      };
    });
  },
};

/** Where a curve is high for long enough, but for moments. */
function busyStretches({ times, values }: Counter, begin: number, end: number): Stretch[] {
  const stretches: Stretch[] = [];
  let from: number | undefined;
  let low: number | undefined;
  for (let at = 0; at < times.length; at++) {
    const isWithin = times[at]! >= begin && times[at]! < end;
    if (isWithin && values[at]! >= LEAST_BUSY) {
      from ??= times[at]!;
      low = undefined;
    } else if (from !== undefined) {
      low ??= times[at]!;
      if (isWithin && (times[at + 1] ?? Infinity) - low < MOMENT) continue;
      if (low - from >= LEAST_TIME) stretches.push({ from, to: low });
      from = low = undefined;
    }
  }
  return stretches;
}

function valuesIn({ times, values }: Counter, from: number, to: number): number[] {
  return [...values].filter((_, at) => times[at]! >= from && times[at]! < to);
}
