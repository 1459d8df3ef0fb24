import { ofService } from '../names/request-name.js';
import { weightedPercentile } from '../groups/callees.js';
import type { SampledGroup, Weighted } from '../groups/callees.js';
import type { RowSelection } from '../measures/selection.js';
import { countText, durationText, roughly, shareText } from '../measures/units.js';
import { rowAt } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { spansOfRequests } from '../groups/spans-of-requests.js';
import { holderOf } from '../trees/pool-holder.js';
import type { Rule } from './evidence.js';
import type { SampledRequest } from '../groups/request-profile.js';

/** Of the requests of a route: ns, and the part of the route's p95. */
const LEAST_WAIT = 10e6;
const LEAST_PART = 0.2;
/** Of the waits of the pool, in which somebody had the connection. */
const LEAST_FULL = 0.8;

/** Of the wait of an example. */
const MOSTLY = 0.5;
/** Requests of about the p95 that are looked at for one that waited for the holder that is named. */
const MOST_EXAMPLES = 10;

function isLong(wait: number, p95: number): boolean {
  return wait >= LEAST_WAIT && wait >= LEAST_PART * p95;
}

/** The trace of the first request whose longest wait was mostly for a holder of this name; else of the first one. */
function traceOfWait(
  index: LookIndex,
  requests: readonly SampledRequest[],
  pool: string,
  holder: string | undefined,
): string | null {
  const traces = requests.slice(0, MOST_EXAMPLES).map(({ row }) => rowAt(index, row).traceId);
  const isOfHolder = (traceId: string | null): boolean => {
    const rows = traceId === null ? [] : index.rowsOfTrace(traceId).map((row) => rowAt(index, row));
    const waits = rows.filter(({ name }) => name === pool);
    const [longest] = waits.sort((a, b) => b.duration - a.duration);
    const last = longest && holderOf(index, longest.row, longest.start, 1);
    return last?.name === holder && last!.time >= MOSTLY * longest!.duration;
  };
  return traces.find(isOfHolder) ?? traces[0] ?? null;
}

/** The p95 of the time that all recorded requests of a route wait for a pool; undefined: they are too many. */
function exactWait(selection: RowSelection, route: SampledGroup, pool: string): number | undefined {
  const { group, has } = route;
  const waits = spansOfRequests(selection, { name: pool }, group.service);
  if (waits === undefined) return undefined;
  const times = [...waits].flatMap(([row, spans]): Weighted[] => {
    if (!has(row)) return [];
    // Calls at once wait at once.
    const time = spans.reduce((sum, { duration }) => sum + duration, 0);
    return [[Math.min(time, rowAt(selection.index, row).duration), 1]];
  });
  return weightedPercentile([...times, [0, group.recorded - times.length]], 95);
}

/** Requests wait for a connection longer than it matters: the pool is the queue of the service. */
export const poolIsTheQueue: Rule = {
  name: 'pool is the queue',
  find({ routes, window, index, selection, report: { pools } }) {
    return pools.flatMap((pool) => {
      const { name, service, count, held, looked, sampled } = pool;
      if (looked === 0 || sampled < LEAST_FULL * looked) return [];
      const waiting = routes.flatMap((route) => {
        const { group, requests } = route;
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
        if (!isLong(p95, whole)) return [];
        if (!window.hasInTwo(of.map(({ start }) => start))) return [];
        return { route, p95, whole, of, exact: exactWait(selection, route, name) };
      });
      const worst = waiting
        .sort((a, b) => b.p95 - a.p95)
        .find(({ route, whole, exact }) => {
          const { notKept, p95: ofAll } = route.group;
          return exact === undefined || isLong(exact, notKept === 0 ? ofAll : whole);
        });
      if (worst === undefined) return [];
      const { route, p95, of, exact } = worst;
      const { group } = route;
      const wait =
        exact === undefined ? `about ${durationText(roughly(p95))}` : durationText(exact);
      // Of those that were not kept it is not known for what they waited.
      const [whole, kept] =
        group.notKept === 0 ? [group.p95, ''] : [worst.whole, ' of what was kept'];
      const farOf = ({ pools: own }: SampledRequest): number => Math.abs(own.get(name)! - p95);
      const nearest = of.toSorted((a, b) => farOf(a) - farOf(b));
      const holders = held.slice(0, 2).map((each) => `${each.name} ${shareText(each.share)}`);
      return {
        rule: 'pool is the queue',
        loss: 'time',
        lost: pool.total,
        service,
        text: `${name}${ofService(service)} is too small: ${group.name} waits ${wait} of its ${durationText(whole)} for a connection (p95${kept})`,
        evidence: `${countText(count)} waits of ${durationText(pool.total)} together${holders.length === 0 ? '' : `, held by ${holders.join(', ')}`}`,
        trace: traceOfWait(index, nearest, name, held[0]?.name),
        section: 'pools',
        where: [],
      };
    });
  },
};
