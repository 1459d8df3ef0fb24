import { entryOf } from '../core/map-entries.js';
import type { ReleasedRequests } from '../spans/read/released-requests.js';
import type { RecordedResource, SpanRecord } from '../spans/span-record.js';

/** Upper limits of the histogram, in seconds: those that OpenTelemetry recommends for requests of HTTP. */
const LIMITS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** Pairs of a service and a route; requests of further ones are those of the route `other`. */
const MOST_ROUTES = 1000;
const MOST_SERVICES = 100;
const MOST_CHARACTERS = 200;
const OTHER = 'other';
const NS_IN_S = 1e9;

/** A request that is an example for a bucket. */
export interface Exemplar {
  traceId: string;
  seconds: number;
  /** Of its end, since 1970. */
  time: number;
}

/** The requests of a route of a service. */
interface RouteMetrics {
  service: string;
  route: string;
  requests: number;
  errors: number;
  /** Requests that their process left open. */
  unfinished: number;
  sumSeconds: number;
  /** Of each limit, and above them: how many requests, without those of lower limits. */
  buckets: number[];
  exemplars: (Exemplar | undefined)[];
}

/** Counts requests by service and route. A request is a span of kind server, below no other one of its process. */
export class SpanMetrics {
  static readonly limits: readonly number[] = LIMITS;
  readonly #routes = new Map<string, RouteMetrics>();
  readonly #services = new Set<string>();

  get routes(): Iterable<RouteMetrics> {
    return this.#routes.values();
  }

  add(span: SpanRecord): void {
    if (span.kind !== 'server' || span.isNested === true) return;
    const metrics = this.#of(
      textOf(span.resource?.attributes['service.name']),
      textOf(span.attributes['http.route'] ?? span.attributes['rpc.method']),
    );
    if (span.unfinished) {
      metrics.unfinished++;
      return;
    }
    const seconds = Math.max(0, Number(span.end - span.start) / NS_IN_S);
    metrics.requests++;
    metrics.sumSeconds += seconds;
    if (span.status.code === 'error') metrics.errors++;
    const bucket = bucketOf(seconds);
    metrics.buckets[bucket]!++;
    const time = Number(span.end / 1_000_000n) / 1000;
    metrics.exemplars[bucket] = { traceId: span.traceId, seconds, time };
  }

  /** Adds requests that were not kept, of which no span is recorded. */
  addReleased(released: ReleasedRequests, resource: RecordedResource | undefined): void {
    if (released.kind !== 'server') return;
    const metrics = this.#of(textOf(resource?.attributes['service.name']), textOf(released.route));
    metrics.requests += released.count;
    metrics.errors += released.errors;
    metrics.sumSeconds += released.time / NS_IN_S;
    for (const [duration, count] of released.durations) {
      metrics.buckets[bucketOf(duration / NS_IN_S)]! += count;
    }
  }

  #of(service: string, route: string): RouteMetrics {
    const key = `${service}\n${route}`;
    const known = this.#routes.get(key);
    if (known !== undefined) return known;
    if (!this.#services.has(service) && this.#services.size >= MOST_SERVICES) {
      return this.#make(OTHER, OTHER);
    }
    this.#services.add(service);
    return this.#make(service, this.#routes.size < MOST_ROUTES ? route : OTHER);
  }

  #make(service: string, route: string): RouteMetrics {
    const key = `${service}\n${route}`;
    const metrics = entryOf(this.#routes, key, () => ({
      service,
      route,
      requests: 0,
      errors: 0,
      unfinished: 0,
      sumSeconds: 0,
      buckets: Array<number>(LIMITS.length + 1).fill(0),
      exemplars: Array<undefined>(LIMITS.length + 1).fill(undefined),
    }));
    return metrics;
  }
}

/** The bucket of a duration: of the first limit that is not below it, or the last. */
function bucketOf(seconds: number): number {
  const limit = LIMITS.findIndex((each) => seconds <= each);
  return limit === -1 ? LIMITS.length : limit;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MOST_CHARACTERS).toWellFormed() : '';
}
