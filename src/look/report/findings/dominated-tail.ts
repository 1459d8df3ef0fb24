import { counted } from '../../../core/readable-text.js';
import { ofService } from '../names/request-name.js';
import { rowAt } from '../../index/index-row.js';
import { scaleOf, weightedPercentile } from '../groups/callees.js';
import { POOLS } from '../../../spans/read/pool-names.js';
import { durationText, roughly, shareText } from '../measures/units.js';
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
      const blockedTime = ({ row, start, duration }: SampledRequest): number =>
        interruptions.overlap(rowAt(index, row).track, start, start + duration).stall;
      // A blocked event loop makes every call slow: another rule names what blocks it.
      const free = requests.filter((each) => blockedTime(each) <= MOST_BLOCKED * each.duration);
      const ofFree = free.map(({ duration, weight }) => [duration, weight] as const);
      const least = weightedPercentile(ofFree, 95);
      if (!(least >= LEAST_P95 && least >= LEAST_RATIO * p50)) return [];
      const slow = free.filter(({ duration }) => duration >= least);
      if (slow.length < LEAST_SLOW || !window.hasInTwo(slow.map(({ start }) => start))) return [];
      const times = new Map<string, number>();
      let notBlocked = 0;
      for (const request of slow) {
        const { waits, duration, weight } = request;
        notBlocked += (duration - blockedTime(request)) * weight;
        for (const [name, time] of waits) {
          times.set(name, (times.get(name) ?? 0) + time * weight);
        }
      }
      const [most] = [...times].sort(([, a], [, b]) => b - a);
      if (most === undefined || POOLS.has(most[0])) return [];
      const [callee, time] = most;
      if (time < LEAST_SHARE * notBlocked) return [];
      const isBlocked = free.length < requests.length || notBlocked < timeOf(slow);
      const isSame = durationText(least) === durationText(p95);
      const isCallee = ({ waits, duration }: SampledRequest): boolean =>
        (waits.get(callee) ?? 0) >= LEAST_SHARE * duration;
      return {
        rule: 'dominated tail',
        loss: 'time',
        lost: time * scaleOf(route),
        service,
        text: `${group.name}${ofService(service)} is slow at times: p95 ${durationText(p95)}, p50 ${durationText(p50)}; its slowest 5 % wait for ${callee}, about ${shareText(roughly(Math.min(1, time / notBlocked)))} of their time`,
        evidence: `${counted(group.count, 'request')}${isBlocked ? `; not counting blocked event loops${isSame ? '' : `, p95 ${durationText(least)}`}` : ''}`,
        trace: typicalOf(index, slow.filter(isCallee)),
        section: 'slowest',
        where: group.where ?? [],
      };
    });
  },
};
