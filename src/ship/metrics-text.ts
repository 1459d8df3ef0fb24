import type { Shipper } from './shipper.js';
import { SpanMetrics } from './span-metrics.js';
import type { Exemplar } from './span-metrics.js';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [value: number, labels: Labels];

/** Prometheus knows three escapes; other control characters of a name could act on a terminal. */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll(/\p{Cc}/gu, '\ufffd');

function labelsText(labels: Labels): string {
  const all = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return all.length === 0 ? '' : `{${all.join(',')}}`;
}

/** Writes Prometheus' text, or OpenMetrics', which also has exemplars. */
class MetricsText {
  text = '';
  readonly #isOpenMetrics: boolean;

  constructor(isOpenMetrics: boolean) {
    this.#isOpenMetrics = isOpenMetrics;
  }

  gauge(name: string, help: string, samples: readonly Sample[]): void {
    this.#head(name, help, 'gauge');
    for (const [value, labels] of samples) this.#line(name, labels, value);
  }

  /** @param name without the suffix `_total`. */
  counter(name: string, help: string, samples: readonly Sample[]): void {
    this.#head(this.#isOpenMetrics ? name : `${name}_total`, help, 'counter');
    for (const [value, labels] of samples) this.#line(`${name}_total`, labels, value);
  }

  durations(name: string, help: string, { limits, metrics }: Histogram): void {
    this.#head(name, help, 'histogram');
    for (const { service, route, requests, sumSeconds, buckets, exemplars } of metrics.routes) {
      const labels = { service, route };
      let sum = 0;
      buckets.forEach((count, i) => {
        sum += count;
        const le = i < limits.length ? String(limits[i]) : '+Inf';
        this.#line(`${name}_bucket`, { ...labels, le }, sum, exemplars[i]);
      });
      this.#line(`${name}_sum`, labels, sumSeconds);
      this.#line(`${name}_count`, labels, requests);
    }
  }

  #head(name: string, help: string, type: string): void {
    this.text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  }

  #line(name: string, labels: Labels, value: number, exemplar?: Exemplar): void {
    this.text += `${name}${labelsText(labels)} ${value}`;
    if (exemplar !== undefined && this.#isOpenMetrics) {
      const { traceId, seconds, time } = exemplar;
      this.text += ` # {trace_id="${traceId}"} ${seconds} ${time}`;
    }
    this.text += '\n';
  }
}

interface Histogram {
  limits: readonly number[];
  metrics: SpanMetrics;
}

/** What the shippers have done, and the requests that they have read. */
export function metricsText(
  shippers: readonly Shipper[],
  metrics: SpanMetrics | undefined,
  isOpenMetrics: boolean,
): string {
  const text = new MetricsText(isOpenMetrics);
  const ofEach = (value: (shipper: Shipper) => number): Sample[] =>
    shippers.map((shipper) => [value(shipper), { target: shipper.target.label }]);
  const prefix = 'tracewright_ship';
  text.counter(
    `${prefix}_spans`,
    'Spans that the target has accepted.',
    ofEach(({ counts }) => counts.spans),
  );
  text.counter(
    `${prefix}_refused_spans`,
    'Spans that the target refuses for good.',
    ofEach(({ counts }) => counts.refused),
  );
  text.counter(
    `${prefix}_invalid_spans`,
    'Spans that were left out: an id is zero.',
    ofEach(({ counts }) => counts.invalid),
  );
  text.counter(
    `${prefix}_retries`,
    'Attempts after one that failed.',
    ofEach(({ counts }) => counts.retries),
  );
  text.counter(
    `${prefix}_deleted_bytes`,
    'Bytes of traces that were deleted before they were sent.',
    ofEach(({ counts }) => counts.deletedBytes),
  );
  text.gauge(
    `${prefix}_up`,
    'Whether the target answers.',
    ofEach(({ trouble }) => (trouble === undefined ? 1 : 0)),
  );
  text.gauge(
    `${prefix}_stopped`,
    'Whether the target takes nothing until a setting is changed.',
    ofEach(({ trouble }) => (trouble?.isStopped === true ? 1 : 0)),
  );
  text.gauge(
    `${prefix}_lag_seconds`,
    'How long what was recorded has waited.',
    ofEach(({ lagMs }) => lagMs / 1000),
  );
  if (metrics !== undefined) addRequests(text, metrics);
  return isOpenMetrics ? `${text.text}# EOF\n` : text.text;
}

function addRequests(text: MetricsText, metrics: SpanMetrics): void {
  const routes = [...metrics.routes];
  text.counter(
    'tracewright_request_errors',
    'Requests that failed.',
    routes.map(({ service, route, errors }) => [errors, { service, route }]),
  );
  text.counter(
    'tracewright_unfinished_requests',
    'Requests that were open when their process ended.',
    routes.map(({ service, route, unfinished }) => [unfinished, { service, route }]),
  );
  const histogram = { limits: SpanMetrics.limits, metrics };
  text.durations('tracewright_request_duration_seconds', 'Requests by duration.', histogram);
}
