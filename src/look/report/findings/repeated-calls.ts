import { addToList } from '../../../core/map-entries.js';
import { weightedPercentile, weightOf } from '../groups/callees.js';
import type { CallsOfRequest, SampledRequest } from '../groups/request-profile.js';
import { countText, durationText, roughly, shareText } from '../measures/units.js';
import { nameWithTarget, ofService } from '../names/request-name.js';
import { partText, typicalOf, timeOf } from './evidence.js';
import type { Rule } from './evidence.js';

const LEAST_CALLS = 10;
const LEAST_REQUESTS = 20;
/** Of the requests of the route, and of its time. */
const LEAST_SHARE = 0.5;
const LEAST_TIME = 0.1;
/** Of its time, from which on it is said. */
const LEAST_BLOCKED = 0.05;

const isRepeated = ({ length }: { length: number }): boolean => length >= LEAST_CALLS;

interface Repeated {
  request: SampledRequest;
  calls: CallsOfRequest;
}

/** A request asks the same of one callee again and again, one call after the other: N+1 queries. */
export const repeatedCalls: Rule = {
  name: 'repeated calls',
  // Its figures are those of the table of routes.
  ignoresCpu: true,
  find(evidence) {
    const { routes, window, index } = evidence;
    return routes.flatMap((route) => {
      const { group, requests } = route;
      if (group.recorded < LEAST_REQUESTS) return [];
      const byCallee = new Map<string, Repeated[]>();
      for (const request of requests) {
        for (const calls of request.calls) {
          if (calls.inRow < LEAST_CALLS) continue;
          addToList(byCallee, nameWithTarget(calls), { request, calls });
        }
      }
      const all = weightOf(requests);
      const allTime = timeOf(requests);
      const blocked = group.blocked?.share ?? 0;
      const isBlocked = blocked >= LEAST_BLOCKED;
      return [...byCallee].flatMap(([callee, repeated]) => {
        const of = repeated.map(({ request }) => request);
        const share = weightOf(of) / all;
        const time =
          repeated.reduce((sum, { request, calls }) => sum + calls.inRowTime * request.weight, 0) /
          allTime;
        if (share < LEAST_SHARE || time < LEAST_TIME) return [];
        if (!window.hasInTwo(of.map(({ start }) => start))) return [];
        const times = repeated.map(
          ({ request: { weight }, calls: { inRow } }) => [inRow, weight] as const,
        );
        const one = repeated.flatMap(({ request: { weight }, calls: { durations } }) =>
          durations.map((duration) => [duration, weight] as const),
        );
        const typical = countText(weightedPercentile(times, 50));
        return {
          rule: 'repeated calls',
          loss: 'time',
          lost: time * group.total,
          service: group.service,
          text: `${group.name}${ofService(group.service)} calls ${callee} ${typical} times a request, one after the other: about ${shareText(roughly(time))} of its time`,
          // A trace that was not blocked has a larger share than all together.
          evidence: `in ${partText(evidence, route, repeated[0]!.calls, isRepeated, share)}, ${durationText(weightedPercentile(one, 50))} a call${isBlocked ? `; ${shareText(blocked)} of the route's time was blocked` : ''}`,
          trace: typicalOf(index, of),
          section: 'callees',
          where: group.where ?? [],
        };
      });
    });
  },
};
