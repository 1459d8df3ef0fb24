import { addToList } from '../../../core/map-entries.js';
import { counted } from '../../../core/readable-text.js';
import { HTTP } from '../../../spans/read/system-of.js';
import type { IndexRow } from '../../index/index-row.js';
import { scaleOf, weightOf } from '../groups/callees.js';
import type { SampledRequest } from '../groups/request-profile.js';
import type { Finding } from '../shape/finding-shape.js';
import { durationText, roughly, shareText } from '../measures/units.js';
import { nameWithTarget, ofService } from '../names/request-name.js';
import { rowName } from '../names/row-name.js';
import { typicalOf } from './evidence.js';
import type { Evidence, Rule } from './evidence.js';

const LEAST_CALLS = 5;
/** Ns. */
const LEAST_TIME = 500e6;
/** How far the times may be apart, and of the calls that failed late the part that must be so close. */
const MOST_APART = 1.02;
const LEAST_PART = 0.6;
/** The part of all calls that must take the same time if they do not fail. */
const LEAST_OF_ALL = 0.9;

/** Calls take the same time: it is a timeout of those that fail, and of others a sleep or a timeout in the callee. */
export const constantTimeout: Rule = {
  name: 'constant timeout',
  find(evidence) {
    const { failedCalls, window, index } = evidence;
    const byCallee = new Map<string, IndexRow[]>();
    for (const call of failedCalls) {
      if (call.duration < LEAST_TIME) continue;
      addToList(byCallee, `${call.service}\n${call.system}\n${rowName(index, call.row)}`, call);
    }
    const failed = [...byCallee.values()].flatMap((calls): Finding | never[] => {
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
    return [...failed, ...constantCalls(evidence, new Set(byCallee.keys()))];
  },
};

/** Of requests of HTTP, which nobody makes to wait for work: those of other callees that answer after the same time. */
function constantCalls(
  { routes, window, index }: Evidence,
  others: ReadonlySet<string>,
): Finding[] {
  return routes.flatMap((route) => {
    const { group, requests } = route;
    const byCallee = new Map<string, { request: SampledRequest; duration: number }[]>();
    for (const request of requests) {
      for (const calls of request.calls) {
        const { name, system, durations } = calls;
        if (system !== HTTP || others.has(`${group.service}\n${system}\n${name}`)) continue;
        for (const duration of durations) {
          addToList(byCallee, nameWithTarget(calls), { request, duration });
        }
      }
    }
    return [...byCallee].flatMap(([callee, calls]) => {
      const same = closest(calls).filter(({ duration }) => duration >= LEAST_TIME);
      const of = same.map(({ request }) => request);
      const part = weightOf(of) / weightOf(calls.map(({ request }) => request));
      if (same.length < LEAST_CALLS || part < LEAST_OF_ALL) return [];
      if (!window.hasInTwo(of.map(({ start }) => start))) return [];
      const [least, most] = [same[0]!.duration, same.at(-1)!.duration];
      return {
        rule: 'constant timeout',
        loss: 'time',
        lost:
          scaleOf(route) * same.reduce((sum, each) => sum + each.duration * each.request.weight, 0),
        service: group.service,
        text: `${callee}${ofService(group.service)} takes ${durationText(same[same.length >> 1]!.duration)} each time: a sleep or a timeout in it`,
        evidence: `about ${shareText(roughly(part))} of the calls by ${group.name}, ${durationText(least)} to ${durationText(most)}`,
        trace: typicalOf(index, of),
        section: 'callees',
        where: group.where ?? [],
      };
    });
  });
}

/** The most calls whose times are close to each other, by their time. */
function closest<T extends { duration: number }>(calls: readonly T[]): T[] {
  const sorted = calls.toSorted((a, b) => a.duration - b.duration);
  let [from, best, most] = [0, 0, 0];
  for (let to = 0; to < sorted.length; to++) {
    while (sorted[to]!.duration > MOST_APART * sorted[from]!.duration) from++;
    if (to - from + 1 > most) [best, most] = [from, to - from + 1];
  }
  return sorted.slice(best, best + most);
}
