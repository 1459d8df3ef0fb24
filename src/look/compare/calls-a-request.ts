import { entryOf } from '../../core/map-entries.js';
import { CONFIDENCE, STRETCHES } from './change-test.js';
import type { ComparedCalls } from './comparison-shape.js';

/** Calls without which a side says nothing, and requests. */
const LEAST_CALLS = 20;
const LEAST_REQUESTS = 20;
/** A smaller change of the calls a request is not named. */
const LEAST_CHANGE = 1.25;

type Counts = Readonly<Float64Array>;

/** A kind of span on both sides: how many there were in each stretch of time. */
interface CountedPair {
  service: string | null;
  kind: string;
  before: Counts;
  after: Counts;
}

/** How often a request makes each of these calls; null of what is no call, and where too few were recorded. */
export function callsARequest(pairs: readonly CountedPair[]): (ComparedCalls | null)[] {
  const requests = new Map<string | null, { before: Float64Array; after: Float64Array }>();
  const none = () => ({ before: new Float64Array(STRETCHES), after: new Float64Array(STRETCHES) });
  for (const { service, kind, before, after } of pairs) {
    if (kind !== 'server' && kind !== 'consumer') continue;
    const own = entryOf(requests, service, none);
    for (let at = 0; at < STRETCHES; at++) {
      own.before[at]! += before[at]!;
      own.after[at]! += after[at]!;
    }
  }
  return pairs.map(({ service, kind, before, after }) => {
    const own = requests.get(service);
    if (own === undefined || (kind !== 'client' && kind !== 'producer')) return null;
    if (sum(own.before) < LEAST_REQUESTS || sum(own.after) < LEAST_REQUESTS) return null;
    if (Math.max(sum(before), sum(after)) < LEAST_CALLS) return null;
    return changeOf(rateOf(before, own.before), rateOf(after, own.after));
  });
}

function sum(counts: Counts): number {
  return counts.reduce((all, count) => all + count, 0);
}

/** Calls a request, and the variance of the logarithm: stretches of time say how far it may be off. */
function rateOf(calls: Counts, requests: Counts): { rate: number; variance: number } {
  const [all, of] = [sum(calls), sum(requests)];
  const rate = all / of;
  if (all === 0) return { rate, variance: 0 };
  let [used, squares] = [0, 0];
  for (let at = 0; at < STRETCHES; at++) {
    if (requests[at] === 0) continue;
    used += 1;
    squares += (calls[at]! - rate * requests[at]!) ** 2;
  }
  const ofStretches = used < 2 ? 1 : ((used / (used - 1)) * squares) / all ** 2;
  // No fewer than if each call were by itself, or stretches that happen to be alike.
  return { rate, variance: Math.max(ofStretches, used < 2 ? 1 : 0) };
}

function changeOf(
  before: { rate: number; variance: number },
  after: { rate: number; variance: number },
): ComparedCalls {
  const rates = { before: before.rate, after: after.rate };
  if (before.rate === 0) return { ...rates, low: null, high: null, change: 'appeared' };
  if (after.rate === 0) return { ...rates, low: null, high: null, change: 'vanished' };
  const times = after.rate / before.rate;
  const reach = Math.exp(CONFIDENCE * Math.sqrt(before.variance + after.variance));
  const [low, high] = [times / reach, times * reach];
  const isMore = low > 1 && times >= LEAST_CHANGE;
  const isFewer = high < 1 && times <= 1 / LEAST_CHANGE;
  return { ...rates, low, high, change: isMore ? 'more' : isFewer ? 'fewer' : null };
}
