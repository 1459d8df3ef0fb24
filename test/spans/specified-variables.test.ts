import { readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { isSdkDisabled } from '../../src/core/options/switch.js';
import { levelledLogger } from '../../src/otel/log-level.js';
import { readPropagators } from '../../src/spans/context/propagators-variable.js';
import { checkLimits } from '../../src/spans/limits.js';
import { answersToVariables } from '../../src/spans/open-telemetry-variables.js';
import { describeResource } from '../../src/spans/resource.js';
import { readSamplerVariables } from '../../src/spans/sampling.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

const signals = ['', 'TRACES_', 'METRICS_', 'LOGS_'];
const ofOtlp = (option: string): string[] =>
  signals.map((signal) => `OTEL_EXPORTER_OTLP_${signal}${option}`);

/** Every variable of the specification (2026-08), by its sections, and those of OpenTelemetry's JavaScript. */
const SPECIFIED = {
  general: [
    ...['OTEL_SDK_DISABLED', 'OTEL_ENTITIES', 'OTEL_RESOURCE_ATTRIBUTES', 'OTEL_SERVICE_NAME'],
    ...['OTEL_LOG_LEVEL', 'OTEL_PROPAGATORS', 'OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'],
  ],
  batches: ['BSP', 'BLRP'].flatMap((processor) =>
    ['SCHEDULE_DELAY', 'EXPORT_TIMEOUT', 'MAX_QUEUE_SIZE', 'MAX_EXPORT_BATCH_SIZE'].map(
      (option) => `OTEL_${processor}_${option}`,
    ),
  ),
  limits: [
    ...['', 'SPAN_', 'LOGRECORD_'].flatMap((of) => [
      `OTEL_${of}ATTRIBUTE_COUNT_LIMIT`,
      `OTEL_${of}ATTRIBUTE_VALUE_LENGTH_LIMIT`,
    ]),
    ...['OTEL_SPAN_EVENT_COUNT_LIMIT', 'OTEL_SPAN_LINK_COUNT_LIMIT'],
    ...['OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT', 'OTEL_LINK_ATTRIBUTE_COUNT_LIMIT'],
  ],
  otlp: [
    ...['ENDPOINT', 'INSECURE', 'CERTIFICATE', 'CLIENT_KEY', 'CLIENT_CERTIFICATE', 'HEADERS'],
    ...['COMPRESSION', 'TIMEOUT', 'PROTOCOL'],
  ]
    .flatMap(ofOtlp)
    .concat(
      ['SPAN_INSECURE', 'METRIC_INSECURE', 'METRICS_TEMPORALITY_PREFERENCE'].map(
        (option) => `OTEL_EXPORTER_OTLP_${option}`,
      ),
      'OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION',
    ),
  otherExporters: [
    ...['OTEL_EXPORTER_ZIPKIN_ENDPOINT', 'OTEL_EXPORTER_ZIPKIN_TIMEOUT'],
    ...['OTEL_EXPORTER_ZIPKIN_PROTOCOL', 'OTEL_EXPORTER_JAEGER_ENDPOINT'],
    ...['OTEL_EXPORTER_PROMETHEUS_HOST', 'OTEL_EXPORTER_PROMETHEUS_PORT'],
  ],
  selection: ['OTEL_TRACES_EXPORTER', 'OTEL_METRICS_EXPORTER', 'OTEL_LOGS_EXPORTER'],
  metrics: [
    ...['OTEL_METRICS_EXEMPLAR_FILTER', 'OTEL_METRIC_EXPORT_INTERVAL'],
    'OTEL_METRIC_EXPORT_TIMEOUT',
  ],
  declarative: ['OTEL_CONFIG_FILE', 'OTEL_EXPERIMENTAL_CONFIG_FILE'],
  conventions: ['OTEL_SEMCONV_STABILITY_OPT_IN'],
  ofJavaScript: [
    ...['OTEL_NODE_RESOURCE_DETECTORS', 'OTEL_NODE_EXPERIMENTAL_SDK_METRICS'],
    ...['OTEL_NODE_ENABLED_INSTRUMENTATIONS', 'OTEL_NODE_DISABLED_INSTRUMENTATIONS'],
    ...['OTEL_SPAN_ATTRIBUTE_PER_EVENT_COUNT_LIMIT', 'OTEL_SPAN_ATTRIBUTE_PER_LINK_COUNT_LIMIT'],
    'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT',
    ...['OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS', 'OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT'],
  ],
};

/** What a value of each variable that is followed changes. */
const FOLLOWED: Readonly<Record<string, readonly [value: string, effect: () => void]>> = {
  OTEL_SDK_DISABLED: [
    'true',
    () => {
      expect(isSdkDisabled()).toBe(true);
    },
  ],
  OTEL_RESOURCE_ATTRIBUTES: [
    'team=a',
    () => {
      expect(describeResource().attributes).toMatchObject({ team: 'a' });
    },
  ],
  OTEL_SERVICE_NAME: [
    'shop',
    () => {
      expect(describeResource().attributes).toMatchObject({ 'service.name': 'shop' });
    },
  ],
  OTEL_LOG_LEVEL: [
    'none',
    () => {
      expect(levelledLogger()).toBeUndefined();
    },
  ],
  OTEL_PROPAGATORS: [
    'tracecontext',
    () => {
      expect(readPropagators(process.env['OTEL_PROPAGATORS']!)).toMatchObject({
        trace: true,
        baggage: false,
      });
    },
  ],
  OTEL_TRACES_SAMPLER: [
    'always_off',
    () => {
      expect(readSamplerVariables(process.env).sampler.ratio).toBe(0);
    },
  ],
  OTEL_ATTRIBUTE_COUNT_LIMIT: [
    '7',
    () => {
      expect(checkLimits().attributes).toBe(7);
    },
  ],
  OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: [
    '7',
    () => {
      expect(checkLimits().valueLength).toBe(7);
    },
  ],
  OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: [
    '7',
    () => {
      expect(checkLimits().attributes).toBe(7);
    },
  ],
  OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: [
    '7',
    () => {
      expect(checkLimits().valueLength).toBe(7);
    },
  ],
  OTEL_SPAN_EVENT_COUNT_LIMIT: [
    '7',
    () => {
      expect(checkLimits().events).toBe(7);
    },
  ],
  OTEL_SPAN_LINK_COUNT_LIMIT: [
    '7',
    () => {
      expect(checkLimits().links).toBe(7);
    },
  ],
  OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT: [
    '7',
    () => {
      expect(checkLimits().eventAttributes).toBe(7);
    },
  ],
  OTEL_LINK_ATTRIBUTE_COUNT_LIMIT: [
    '7',
    () => {
      expect(checkLimits().linkAttributes).toBe(7);
    },
  ],
  OTEL_NODE_RESOURCE_DETECTORS: [
    'none',
    () => {
      expect(describeResource().attributes).not.toHaveProperty('host.arch');
    },
  ],
};

/** Tests that see the effect of these: instrumentations.test.ts starts some; attributes are always stable. */
const FOLLOWED_ELSEWHERE = [
  ...['OTEL_NODE_ENABLED_INSTRUMENTATIONS', 'OTEL_NODE_DISABLED_INSTRUMENTATIONS'],
  'OTEL_SEMCONV_STABILITY_OPT_IN',
];

const all = Object.values(SPECIFIED).flat();

test.each(all)('%s is followed, or one line answers it', (name) => {
  const [value, effect] = FOLLOWED[name] ?? ['7', undefined];
  const lines = answersToVariables({ [name]: value });
  if (effect === undefined) {
    expect(lines).toHaveLength(FOLLOWED_ELSEWHERE.includes(name) ? 0 : 1);
    for (const line of lines) expect(line).toMatch(new RegExp(`^${name}: not used; .`));
    return;
  }
  expect(lines).toEqual([]);
  vi.stubEnv(name, value);
  effect();
});

test('an argument is followed with the samplers that have one, and answered with others', () => {
  const ratio = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' };
  expect(answersToVariables(ratio)).toEqual([]);
  expect(readSamplerVariables(ratio).sampler).toMatchObject({ ratio: 0.25, parentBased: false });
  const always = { OTEL_TRACES_SAMPLER: 'always_on', OTEL_TRACES_SAMPLER_ARG: '0.25' };
  expect(answersToVariables(always)).toEqual([
    expect.stringContaining('OTEL_TRACES_SAMPLER_ARG: not used; of OTEL_TRACES_SAMPLER only'),
  ]);
});

test.each([
  ['always_on', 1, false],
  ['always_off', 0, false],
  ['traceidratio', 1, false],
  ['parentbased_always_on', 1, true],
  ['parentbased_always_off', 0, true],
  ['parentbased_traceidratio', 1, true],
])('sampler %s is followed', (name, ratio, parentBased) => {
  expect(answersToVariables({ OTEL_TRACES_SAMPLER: name })).toEqual([]);
  expect(readSamplerVariables({ OTEL_TRACES_SAMPLER: name }).sampler).toMatchObject({
    ratio,
    parentBased,
  });
});

test.each(['jaeger_remote', 'parentbased_jaeger_remote', 'xray'])(
  'sampler %s is answered, and every trace is recorded',
  (name) => {
    const lines = answersToVariables({ OTEL_TRACES_SAMPLER: name });
    expect(lines).toEqual([expect.stringContaining('parentbased_always_on is used')]);
    expect(readSamplerVariables({ OTEL_TRACES_SAMPLER: name }).sampler.ratio).toBe(1);
  },
);

test.each(['tracecontext', 'baggage', 'b3', 'b3multi', 'jaeger', 'xray', 'none'])(
  'propagator %s is followed',
  (name) => {
    expect(answersToVariables({ OTEL_PROPAGATORS: name })).toEqual([]);
    const { trace, baggage, formats } = readPropagators(name);
    expect([trace, baggage, formats.length > 0]).toEqual([
      name === 'tracecontext',
      name === 'baggage',
      ['b3', 'b3multi', 'jaeger', 'xray'].includes(name),
    ]);
  },
);

test('propagator ottrace is answered', () => {
  expect(answersToVariables({ OTEL_PROPAGATORS: 'ottrace' })).toEqual([
    expect.stringContaining('OTEL_PROPAGATORS: ottrace is not supported'),
  ]);
});

test('all unknown names share one line', () => {
  const lines = answersToVariables({ OTEL_TRACES_SAMPLR: 'always_off', OTEL_PYTHON_ID: '1' });
  expect(lines).toEqual([
    'OTEL_PYTHON_ID, OTEL_TRACES_SAMPLR: not used; Tracewright does not know the name; an instrumentation of the program may read it',
  ]);
});

test('the page lists every one of them', () => {
  const page = readFileSync(new URL('../../docs/otel.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/`(OTEL_[A-Z\d_]+)(…?)`/g)].map(
    ([, name = '', rest]) => new RegExp(`^${name}${rest === '' ? '$' : ''}`),
  );
  expect(all.filter((name) => !listed.some((each) => each.test(name)))).toEqual([]);
});
