import { entryOf } from '../core/map-entries.js';
import type { EventPacket } from '../heph/packet.js';
import { METHODS } from '../spans/conventions.js';
import { RELEASED_DESCRIPTION } from '../spans/layout.js';
import { POOLS } from '../spans/read/pool-names.js';
import { releasedOf } from '../spans/read/released-requests.js';
import type { OnRecord } from '../spans/read/span-follower.js';
import type { SpanNotes } from '../spans/read/span-notes.js';
import type { RecordedResource, SpanRecord } from '../spans/span-record.js';
import { LoopMetrics } from './loop-metrics.js';
import type { Labels } from './metric-labels.js';

/** Upper limits of the histograms, in seconds: those that OpenTelemetry recommends for requests of HTTP. */
const LIMITS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** Label values of a histogram; what comes with further ones has the value `other` in each label but the service. */
const MOST_SERIES = 1000;
const MOST_SERVICES = 100;
const MOST_CHARACTERS = 200;
const OTHER = 'other';
const NS_IN_S = 1e9;

/** A span that is an example for a bucket. */
export interface Exemplar {
  traceId: string;
  seconds: number;
  /** Of its end, since 1970. */
  time: number;
}

/** Durations with the same labels. */
export interface Series {
  labels: Labels;
  count: number;
  errors: number;
  /** Those that their process left open. They are not among the others. */
  unfinished: number;
  sumSeconds: number;
  /** Of each limit, and above them: how many durations, without those of lower limits. */
  buckets: number[];
  exemplars: (Exemplar | undefined)[];
}

/** A histogram of spans of one kind. */
interface Family {
  /** As Prometheus has it. */
  readonly name: string;
  readonly help: string;
  /** Labels besides the service; undefined: the span is none of these. */
  readonly labelsOf: (span: SpanRecord) => Labels | undefined;
  /** Whether they can neither fail nor be open at the end. */
  readonly isWait?: boolean;
}

/** Where names of OpenTelemetry's conventions exist, names and labels are those, as its exporter for Prometheus writes them. */
const FAMILIES = [
  {
    name: 'http_server_request_duration_seconds',
    help: 'Requests by duration.',
    labelsOf({ kind, isNested, attributes }) {
      if (kind !== 'server' || isNested === true || 'rpc.method' in attributes) return undefined;
      const status = Number(attributes['http.response.status_code'] ?? 0);
      return requestLabels(
        textOf(attributes['http.request.method']),
        textOf(attributes['http.route']),
        status < 100 ? '' : `${Math.floor(status / 100)}xx`,
      );
    },
  },
  {
    name: 'rpc_server_call_duration_seconds',
    help: 'Calls of this server by duration.',
    labelsOf({ kind, isNested, attributes }) {
      if (kind !== 'server' || isNested === true || !('rpc.method' in attributes)) return undefined;
      const code = textOf(attributes['rpc.response.status_code']);
      return callLabels(textOf(attributes['rpc.method']), code);
    },
  },
  {
    name: 'messaging_process_duration_seconds',
    help: 'Messages and jobs of queues by the time of their processing.',
    labelsOf({ kind, attributes }) {
      const type = attributes['messaging.operation.type'];
      if (kind !== 'consumer' || (type !== undefined && type !== 'process')) return undefined;
      return {
        messaging_system: textOf(attributes['messaging.system']),
        messaging_destination_name: textOf(attributes['messaging.destination.name']),
      };
    },
  },
  {
    name: 'tracewright_pool_wait_seconds',
    help: 'Waits of 1 ms or more for a connection of a pool.',
    isWait: true,
    labelsOf: ({ kind, name }) =>
      kind === 'internal' && POOLS.has(name) ? { pool: name } : undefined,
  },
  {
    name: 'tracewright_eventloop_stall_seconds',
    help: 'Stalls of event loops by duration.',
    isWait: true,
    labelsOf: ({ scope, attributes }) =>
      scope?.name === 'tracewright/event-loop'
        ? { cause: textOf(attributes['eventloop.cause']) }
        : undefined,
  },
] as const satisfies readonly Family[];
const [HTTP, RPC, MESSAGES] = FAMILIES;

const requestLabels = (method: string, route: string, status_class: string): Labels => ({
  http_request_method: method,
  http_route: route,
  status_class,
});
const callLabels = (method: string, code: string): Labels => ({
  rpc_method: method,
  rpc_response_status_code: code,
});

/** Counts spans by service and what kinds of them differ by, once each. */
export class SpanMetrics {
  static readonly limits: readonly number[] = LIMITS;
  readonly #families = new Map<Family, Map<string, Series>>(
    FAMILIES.map((family) => [family, new Map<string, Series>()]),
  );
  readonly #services = new Set<string>();
  readonly loops = new LoopMetrics();

  get families(): Iterable<readonly [family: Family, series: Iterable<Series>]> {
    return [...this.#families].map(([family, series]) => [family, series.values()] as const);
  }

  readonly add = (span: SpanRecord): void => {
    for (const family of FAMILIES) {
      const labels = family.labelsOf(span);
      if (labels === undefined) continue;
      const series = this.#of(family, this.#serviceOf(span.resource), labels);
      if (span.unfinished) {
        series.unfinished++;
        return;
      }
      const seconds = Math.max(0, Number(span.end - span.start) / NS_IN_S);
      series.count++;
      series.sumSeconds += seconds;
      if (span.status.code === 'error') series.errors++;
      const bucket = bucketOf(seconds);
      series.buckets[bucket]!++;
      const time = Number(span.end / 1_000_000n) / 1000;
      series.exemplars[bucket] = { traceId: span.traceId, seconds, time };
      return;
    }
  };

  /** Adds what an event loop did, or requests and messages that were not kept, of which no span is recorded. */
  readonly addRecord: OnRecord = (record, notes, path) => {
    if (record.description === RELEASED_DESCRIPTION) this.#addReleased(record, notes);
    else this.loops.add(this.#serviceOf(notes.firstResource), record, notes, path);
  };

  #addReleased(record: EventPacket, notes: SpanNotes): void {
    const released = releasedOf(record);
    const { isBelow, kind, name, route } = released;
    // Operations are counted by readers of all spans.
    if (isBelow || (kind !== 'server' && kind !== 'consumer')) return;
    const [first = ''] = name.split(' ', 1);
    const isHttp = route === '' || METHODS.includes(first) || route.startsWith('/');
    const labels = isHttp
      ? requestLabels(METHODS.includes(first) ? first : '', route, '')
      : callLabels(route, '');
    const queue = {
      messaging_system: '',
      messaging_destination_name: name.replace(/^(?:process|receive) /, ''),
    };
    const service = this.#serviceOf(notes.resources.get(released.resource));
    const series =
      kind === 'server'
        ? this.#of(isHttp ? HTTP : RPC, service, labels)
        : this.#of(MESSAGES, service, queue);
    series.count += released.count;
    series.errors += released.errors;
    series.sumSeconds += released.time / NS_IN_S;
    for (const [duration, count] of released.durations) {
      series.buckets[bucketOf(duration / NS_IN_S)]! += count;
    }
  }

  /** The name of a service, as labels have it. */
  #serviceOf(resource: RecordedResource | undefined): string {
    const service = textOf(resource?.attributes['service.name']);
    if (!this.#services.has(service) && this.#services.size >= MOST_SERVICES) return OTHER;
    this.#services.add(service);
    return service;
  }

  #of(family: Family, service: string, own: Labels): Series {
    const all = this.#families.get(family)!;
    let labels: Labels = { service, ...own };
    let key = Object.values(labels).join('\n');
    if (!all.has(key) && all.size >= MOST_SERIES) {
      labels = { service, ...Object.fromEntries(Object.keys(own).map((name) => [name, OTHER])) };
      key = Object.values(labels).join('\n');
    }
    return entryOf(all, key, () => ({
      labels,
      count: 0,
      errors: 0,
      unfinished: 0,
      sumSeconds: 0,
      buckets: Array<number>(LIMITS.length + 1).fill(0),
      exemplars: Array<undefined>(LIMITS.length + 1).fill(undefined),
    }));
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
