import { entryOf } from '../../../core/map-entries.js';
import type { Callee, CalleeName, Group } from '../shape/report-shape.js';
import type { SampledRequest } from './request-profile.js';

/** Callees that are reported, and the routes of each that are named. */
const MOST_CALLEES = 200;
const MOST_USERS = 5;

/** A route, and the requests of it that were looked at. */
export interface SampledGroup {
  group: Group;
  requests: readonly SampledRequest[];
  /** Whether a row is one of all its requests. */
  has: (row: number) => boolean;
}

/** A value that counts so often. */
export type Weighted = readonly [value: number, weight: number];

/** The least value that so many percent of all do not exceed; 0 without any. */
export function weightedPercentile(values: readonly Weighted[], percent: number): number {
  const sorted = [...values].sort(([a], [b]) => a - b);
  const all = sorted.reduce((sum, [, weight]) => sum + weight, 0);
  let passed = 0;
  for (const [value, weight] of sorted) {
    passed += weight;
    if (passed >= (percent / 100) * all) return value;
  }
  return sorted.at(-1)?.[0] ?? 0;
}

/** Sum of the weights: how many requests these stand for, in parts of all weights. */
export function weightOf(requests: readonly SampledRequest[]): number {
  return requests.reduce((sum, { weight }) => sum + weight, 0);
}

/** How many requests each one that was looked at stands for, so that all of them are the recorded ones. */
export function scaleOf({ group, requests }: SampledGroup): number {
  const weights = weightOf(requests);
  return weights === 0 ? 0 : group.recorded / weights;
}

interface CalleeTally {
  callee: CalleeName & Pick<Callee, 'service' | 'reached' | 'where'>;
  durations: Weighted[];
  users: Map<Group, number>;
  isEstimate: boolean;
}

/** What requests called: estimates from those of each route that were looked at, those that took the most time first. */
export function calleesOf(groups: readonly SampledGroup[]): Callee[] {
  const tallies = new Map<string, CalleeTally>();
  for (const sampled of groups) {
    const { group, requests } = sampled;
    const scale = scaleOf(sampled);
    for (const { calls, weight } of requests) {
      for (const { kind, name, system, target, reached, durations } of calls) {
        const named = { name, system, target, service: group.service };
        const callee = { ...named, reached, where: [...whereOf(named), `kind=${kind}`] };
        const key = [group.service, name, system, target].join('\n');
        const tally = entryOf(tallies, key, () => ({
          ...{ callee, durations: [], users: new Map() },
          isEstimate: false,
        }));
        tally.isEstimate ||= requests.length < group.recorded;
        tally.callee.reached ??= reached;
        const own = weight * scale;
        for (const duration of durations) tally.durations.push([duration, own]);
        tally.users.set(group, (tally.users.get(group) ?? 0) + own * durations.length);
      }
    }
  }
  return [...tallies.values()]
    .map(describe)
    .sort((a, b) => b.total - a.total)
    .slice(0, MOST_CALLEES);
}

/** Values of `--where` that select the calls of a callee. */
function whereOf({ name, service, system, target }: CalleeName & Pick<Callee, 'service'>) {
  const [, host, port] = /^\[?(.+?)\]?(?::(\d+))?$/.exec(target ?? '') ?? [];
  return [
    `name=${name}`,
    ...(service === null ? [] : [`service=${service}`]),
    ...(system === null ? [] : [`system=${system}`]),
    ...(host === undefined ? [] : [`server.address=${host}`]),
    ...(port === undefined ? [] : [`server.port=${port}`]),
  ];
}

function describe({ callee, durations, users, isEstimate }: CalleeTally): Callee {
  const requests = [...users.keys()].reduce((sum, { recorded }) => sum + recorded, 0);
  const count = durations.reduce((sum, [, weight]) => sum + weight, 0);
  const mostUsed = [...users].sort(([, a], [, b]) => b - a).slice(0, MOST_USERS);
  return {
    ...callee,
    count: Math.round(count),
    isEstimate,
    perRequest: count / Math.max(1, requests),
    total: durations.reduce((sum, [duration, weight]) => sum + duration * weight, 0),
    p95: weightedPercentile(durations, 95),
    users: mostUsed.map(([{ name, service, recorded }, calls]) => ({
      name,
      service,
      perRequest: calls / Math.max(1, recorded),
    })),
  };
}

/** Calls of other services, databases and queues that a request of a route makes; null: none was looked at. */
export function callsPerRequest({ requests }: Pick<SampledGroup, 'requests'>): number | null {
  const all = weightOf(requests);
  let calls = 0;
  for (const { calls: own, weight } of requests) {
    for (const { durations } of own) calls += weight * durations.length;
  }
  return all === 0 ? null : calls / all;
}
