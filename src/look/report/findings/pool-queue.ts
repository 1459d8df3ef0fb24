import { weightedPercentile } from '../groups/callees.js';
import { countText, durationText, roughly, shareText } from '../measures/units.js';
import { exampleOf, ofService } from './evidence.js';
import type { Rule } from './evidence.js';
import type { SampledRequest } from '../groups/request-profile.js';

/** Of the requests of a route: ns, and the part of the route's p95. */
const LEAST_WAIT = 10e6;
const LEAST_PART = 0.2;
/** Of the waits of the pool, in which somebody had the connection. */
const LEAST_FULL = 0.8;

/** Requests wait for a connection longer than it matters: the pool is the queue of the service. */
export const poolIsTheQueue: Rule = {
  name: 'pool is the queue',
  find({ routes, window, index, report: { pools } }) {
    return pools.flatMap((pool) => {
      const { name, service, count, held, looked, sampled } = pool;
      if (looked === 0 || sampled < LEAST_FULL * looked) return [];
      const waiting = routes.flatMap(({ group, requests }) => {
        if (group.service !== service) return [];
        // Calls at once wait at once.
        const waitOf = ({ pools: own, duration }: SampledRequest): number =>
          Math.min(own.get(name) ?? 0, duration);
        const p95Of = (figure: (request: SampledRequest) => number): number =>
          weightedPercentile(
            requests.map((each) => [figure(each), each.weight] as const),
            95,
          );
        const [p95, whole] = [p95Of(waitOf), p95Of(({ duration }) => duration)];
        const of = requests.filter((each) => waitOf(each) > 0);
        if (p95 < LEAST_WAIT || p95 < LEAST_PART * whole) return [];
        if (!window.hasInTwo(of.map(({ start }) => start))) return [];
        return { group, p95, whole, of };
      });
      const [worst] = waiting.sort((a, b) => b.p95 - a.p95);
      if (worst === undefined) return [];
      const { group, p95, whole, of } = worst;
      const holders = held
        .slice(0, 2)
        .map((each) => `${each.name} ${shareText(roughly(each.share))}`);
      return {
        rule: 'pool is the queue',
        loss: 'time',
        lost: pool.total,
        service,
        text: `${name}${ofService(service)} is too small: ${group.name} waits ${durationText(p95)} of its ${durationText(whole)} for a connection (p95)`,
        evidence: `${countText(count)} waits of ${durationText(pool.total)} together${holders.length === 0 ? '' : `, held by ${holders.join(', ')}`}`,
        trace: exampleOf(index, of, ({ pools: own }) => -Math.abs(own.get(name)! - p95)),
        section: 'pools',
        where: [],
      };
    });
  },
};
