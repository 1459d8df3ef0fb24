import { scaleOf, weightOf } from '../groups/callees.js';
import type { SampledRequest } from '../groups/request-profile.js';
import { addToList } from '../../../core/map-entries.js';
import { countText, roughly, shareText } from '../measures/units.js';
import { nameWithTarget, ofService } from '../names/request-name.js';
import { typicalOf, timeOf } from './evidence.js';
import type { Rule } from './evidence.js';

/** Of the requests of the route, and of those that were looked at. */
const LEAST_SHARE = 0.01;
const LEAST_SEEN = 3;

/** Requests call one callee again after it has failed, and again. */
export const retries: Rule = {
  name: 'retries',
  find({ routes, window, index }) {
    return routes.flatMap((route) => {
      const { group, requests } = route;
      const byCallee = new Map<string, SampledRequest[]>();
      for (const request of requests) {
        for (const calls of request.calls) {
          if (calls.isRetried) addToList(byCallee, nameWithTarget(calls), request);
        }
      }
      return [...byCallee].flatMap(([callee, of]) => {
        const share = weightOf(of) / weightOf(requests);
        if (of.length < LEAST_SEEN || share < LEAST_SHARE) return [];
        if (!window.hasInTwo(of.map(({ start }) => start))) return [];
        return {
          rule: 'retries',
          loss: 'time',
          lost: timeOf(of) * scaleOf(route),
          service: group.service,
          text: `${group.name}${ofService(group.service)} repeats ${callee} when it has failed: three calls or more in about ${shareText(roughly(share))} of its requests`,
          evidence: `of ${countText(group.count)} requests`,
          trace: typicalOf(index, of),
          section: 'callees',
          where: group.where ?? [],
        };
      });
    });
  },
};
