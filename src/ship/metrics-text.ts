import type { Shipper } from './shipper.js';
import { LOOP_METRICS } from './loop-metrics.js';
import { SpanMetrics } from './span-metrics.js';
import type { Exemplar, Series } from './span-metrics.js';
import type { Labels } from './metric-labels.js';

/** `part` is appended to the name. */
type Sample = readonly [value: number, labels: Labels, part?: string];

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
    this.samples(name, help, 'gauge', samples);
  }

  /** @param name without the suffix `_total`. */
  counter(name: string, help: string, samples: readonly Sample[]): void {
    this.samples(name, help, 'counter', samples);
  }

  samples(name: string, help: string, type: string, samples: readonly Sample[]): void {
    const suffix = type === 'counter' ? '_total' : '';
    this.#head(this.#isOpenMetrics ? name : name + suffix, help, type);
    for (const [value, labels, part = ''] of samples) {
      this.#line(name + part + suffix, labels, value);
    }
  }

  durations(name: string, help: string, all: Iterable<Series>): void {
    const { limits } = SpanMetrics;
    this.#head(name, help, 'histogram');
    for (const { labels, count, sumSeconds, buckets, exemplars } of all) {
      let sum = 0;
      buckets.forEach((each, i) => {
        sum += each;
        const le = i < limits.length ? String(limits[i]) : '+Inf';
        this.#line(`${name}_bucket`, { ...labels, le }, sum, exemplars[i]);
      });
      this.#line(`${name}_sum`, labels, sumSeconds);
      this.#line(`${name}_count`, labels, count);
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

/** The page of metrics: counts of the shippers, and of the spans that they have read. */
export function metricsText(
  shippers: readonly Shipper[],
  metrics: SpanMetrics | undefined,
  isOpenMetrics: boolean,
): string {
  const text = new MetricsText(isOpenMetrics);
  const sending = shippers.filter(({ target }) => target.isNowhere !== true);
  if (sending.length > 0) addShippers(text, sending);
  if (metrics !== undefined) addServices(text, metrics, shippers[0]!);
  return isOpenMetrics ? `${text.text}# EOF\n` : text.text;
}

function addShippers(text: MetricsText, shippers: readonly Shipper[]): void {
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
}

function addServices(text: MetricsText, metrics: SpanMetrics, { files }: Shipper): void {
  for (const [{ name, help, isWait }, series] of metrics.families) {
    const all = [...series];
    if (all.length === 0) continue;
    text.durations(name, help, all);
    if (isWait === true) continue;
    const prefix = `tracewright_${name.replace(/^tracewright_|_(?:duration_)?seconds$/g, '')}`;
    text.counter(
      `${prefix}_errors`,
      'Those whose status is an error.',
      all.map(({ labels, errors }) => [errors, labels]),
    );
    text.counter(
      `${prefix}_unfinished`,
      'Those that were open when their process ended.',
      all.map(({ labels, unfinished }) => [unfinished, labels]),
    );
  }
  const loops = metrics.loops.of(files);
  for (const [name, { type, help, values }] of Object.entries(LOOP_METRICS)) {
    const samples = loops.flatMap((loop) =>
      Object.entries(values(loop)).flatMap(([part, value]): Sample[] =>
        value === undefined ? [] : [[value, loop.labels, part]],
      ),
    );
    if (samples.length > 0) text.samples(name, help, type, samples);
  }
}
