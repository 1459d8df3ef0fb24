import { scaleOf, weightOf } from '../groups/callees.js';
import { isError } from '../../index/index-row.js';
import type { IndexRow } from '../../index/index-row.js';
import type { CallsOfRequest, SampledRequest } from '../groups/request-profile.js';
import { addToList } from '../../../core/map-entries.js';
import { durationText, roughly } from '../measures/units.js';
import { nameWithTarget, ofService } from '../names/request-name.js';
import { partText, typicalOf } from './evidence.js';
import type { Rule } from './evidence.js';

/** Of the requests of the route, and of those that were looked at. */
const LEAST_SHARE = 0.01;
const LEAST_SEEN = 3;
/** Of a request that retries, and how many of them failed. */
const LEAST_CALLS = 3;
const LEAST_FAILED = 2;

interface Retried {
  request: SampledRequest;
  calls: CallsOfRequest;
}

const isRetry = (calls: readonly IndexRow[]): boolean =>
  calls.length >= LEAST_CALLS && calls.filter(({ flags }) => isError(flags)).length >= LEAST_FAILED;

/** Requests call one callee again after it has failed, and again. */
export const retries: Rule = {
  name: 'retries',
  find(evidence) {
    const { routes, window, index } = evidence;
    return routes.flatMap((route) => {
      const { group, requests } = route;
      const byCallee = new Map<string, Retried[]>();
      for (const request of requests) {
        for (const calls of request.calls) {
          if (calls.isRetried) addToList(byCallee, nameWithTarget(calls), { request, calls });
        }
      }
      return [...byCallee].flatMap(([callee, retried]) => {
        const of = retried.map(({ request }) => request);
        const share = weightOf(of) / weightOf(requests);
        if (of.length < LEAST_SEEN || share < LEAST_SHARE) return [];
        if (!window.hasInTwo(of.map(({ start }) => start))) return [];
        // Without what blocked the event loop meanwhile.
        const times = of.map(({ waits, weight }) => (waits.get(callee) ?? 0) * weight);
        const lost = times.reduce((sum, time) => sum + time, 0) * scaleOf(route);
        return {
          rule: 'retries',
          loss: 'time',
          lost,
          service: group.service,
          text: `${group.name}${ofService(group.service)} repeats ${callee} when it has failed: three calls or more in ${partText(evidence, route, retried[0]!.calls, isRetry, share)}`,
          evidence: `these calls took about ${durationText(roughly(lost))} together`,
          trace: typicalOf(index, of),
          section: 'callees',
          where: group.where ?? [],
        };
      });
    });
  },
};
