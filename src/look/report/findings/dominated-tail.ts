import { ofService } from '../names/request-name.js';
import { rowAt } from '../../index/index-row.js';
import { scaleOf } from '../groups/callees.js';
import { POOLS } from '../../../spans/read/pool-names.js';
import { countText, durationText, roughly, shareText } from '../measures/units.js';
import { timeOf, typicalOf } from './evidence.js';
import type { SampledRequest } from '../groups/request-profile.js';
import type { Rule } from './evidence.js';

/** Ns, and times the p50. */
const LEAST_P95 = 250e6;
const LEAST_RATIO = 5;
/** Of the time of the slowest 5 % in which the event loop was not blocked. */
const LEAST_SHARE = 0.7;
const LEAST_SLOW = 5;
/** Of a request's time. */
const MOST_BLOCKED = 0.5;

/** The slow requests of a route are slow because of one callee. */
export const dominatedTail: Rule = {
  name: 'dominated tail',
  find({ routes, window, index, interruptions }) {
    return routes.flatMap((route) => {
      const { group, requests } = route;
      const { p50, p95, service } = group;
      if (p95 < LEAST_P95 || p95 < LEAST_RATIO * p50) return [];
      const slow = requests.filter(({ duration }) => duration >= p95);
      if (slow.length < LEAST_SLOW || !window.hasInTwo(slow.map(({ start }) => start))) return [];
      const times = new Map<string, number>();
      const free: SampledRequest[] = [];
      let notBlocked = 0;
      for (const request of slow) {
        const { row, start, waits, duration, weight } = request;
        // A blocked event loop makes every call slow: another rule names what blocks it.
        const { stall } = interruptions.overlap(rowAt(index, row).track, start, start + duration);
        if (stall > MOST_BLOCKED * duration) continue;
        free.push(request);
        notBlocked += (duration - stall) * weight;
        for (const [name, time] of waits) {
          times.set(name, (times.get(name) ?? 0) + time * weight);
        }
      }
      const [most] = [...times].sort(([, a], [, b]) => b - a);
      if (free.length < LEAST_SLOW || most === undefined || POOLS.has(most[0])) return [];
      const [callee, time] = most;
      if (time < LEAST_SHARE * notBlocked) return [];
      const isBlocked = notBlocked < timeOf(slow);
      const isCallee = ({ waits, duration }: SampledRequest): boolean =>
        (waits.get(callee) ?? 0) >= LEAST_SHARE * duration;
      return {
        rule: 'dominated tail',
        loss: 'time',
        lost: time * scaleOf(route),
        service,
        text: `${group.name}${ofService(service)} has a p95 of ${durationText(p95)} (p50 ${durationText(p50)}): about ${shareText(roughly(Math.min(1, time / notBlocked)))} of the slowest 5 %${isBlocked ? ', without blocked event loops,' : ''} is ${callee}`,
        evidence: `of ${countText(group.count)} requests, the longest took ${durationText(group.max)}`,
        trace: typicalOf(index, free.filter(isCallee)),
        section: 'slowest',
        where: group.where ?? [],
      };
    });
  },
};
