import { expect, test } from 'vitest';
import { readPropagators } from '../../src/spans/context/propagators-variable.js';
import { answersToVariables } from '../../src/spans/open-telemetry-variables.js';
import { detectResource } from '../../src/spans/resource-detectors.js';
import { readResourceVariable } from '../../src/spans/resource-variable.js';

/** Of the specification, and of OpenTelemetry's JavaScript; with a value that its SDK would follow. */
const EXAMPLES: Readonly<Record<string, string>> = {
  OTEL_SDK_DISABLED: 'true',
  OTEL_RESOURCE_ATTRIBUTES: 'team=a%2Cb,zone=1',
  OTEL_SERVICE_NAME: 'shop',
  OTEL_LOG_LEVEL: 'DEBUG',
  OTEL_PROPAGATORS: 'tracecontext,baggage',
  OTEL_TRACES_SAMPLER: 'traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0.5',
  OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '100',
  OTEL_ATTRIBUTE_COUNT_LIMIT: '100',
  OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: '100',
  OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '100',
  OTEL_SPAN_EVENT_COUNT_LIMIT: '100',
  OTEL_SPAN_LINK_COUNT_LIMIT: '100',
  OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT: '100',
  OTEL_LINK_ATTRIBUTE_COUNT_LIMIT: '100',
  OTEL_NODE_RESOURCE_DETECTORS: 'env,host,os,process,serviceinstance',
  OTEL_NODE_ENABLED_INSTRUMENTATIONS: 'http',
  OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'fs',
  OTEL_SEMCONV_STABILITY_OPT_IN: 'http,database',
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'none',
};

test('variables that Tracewright follows need no word', () => {
  expect(answersToVariables({ ...EXAMPLES, PATH: '/bin', OTEL_BSP_SCHEDULE_DELAY: '' })).toEqual(
    [],
  );
});

test('variables of one kind share a line', () => {
  const lines = answersToVariables({
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
    OTEL_METRICS_EXPORTER: 'otlp',
  });
  expect(lines).toHaveLength(2);
  expect(lines.join('\n')).toContain('OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: not used');
});

test.each([
  ['OTEL_TRACES_SAMPLER', 'bogus', 'one of always_on'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', 'parentbased_always_on is used'],
  ['OTEL_LOG_LEVEL', 'loud', 'one of none, error'],
  ['OTEL_NODE_RESOURCE_DETECTORS', 'env,aws,host', 'aws is not detected'],
  ['OTEL_PROPAGATORS', 'ottrace,b3', 'ottrace is not supported'],
  ['OTEL_SPAN_EVENT_COUNT_LIMIT', '-1', 'a whole number'],
  ['OTEL_ATTRIBUTE_COUNT_LIMIT', '1.5', 'a whole number'],
  ['OTEL_SDK_DISABLED', 'yes', 'true or false'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a=1,b', '"b" is not name=value'],
  ['OTEL_SEMCONV_STABILITY_OPT_IN', 'http/dup', 'stable names only'],
])('%s=%s is answered', (name, value, answer) => {
  const lines = answersToVariables({ [name]: value });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(name);
  expect(lines[0]).toContain(answer);
});

test.each([
  ['traceidratio', 'abc'],
  ['parentbased_traceidratio', '7'],
])('the argument of %s must be a ratio, not %s', (sampler, argument) => {
  const lines = answersToVariables({
    OTEL_TRACES_SAMPLER: sampler,
    OTEL_TRACES_SAMPLER_ARG: argument,
  });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(
    `OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, got "${argument}"`,
  );
});

test.each([
  ['a=1,b'],
  ['a=1,=2'],
  ['a=1,b=%E0%A4'],
  ['a=1,b=2=3'],
  [`a=1,b=${'x'.repeat(256)}`],
  ['a=1,__proto__=2'],
])('one fault discards all attributes: %s', (text) => {
  const { attributes, fault } = readResourceVariable(text);
  expect(attributes).toEqual({});
  expect(fault).toBeTypeOf('string');
});

test('attributes of the resource are decoded', () => {
  expect(readResourceVariable(' a%2Cb = c%3Dd ,, e = f ')).toEqual({
    attributes: { 'a,b': 'c=d', e: 'f' },
    fault: undefined,
  });
});

test.each([
  ['', { trace: true, baggage: true }],
  ['none', { trace: false, baggage: false }],
  ['tracecontext', { trace: true, baggage: false }],
  [' Baggage ', { trace: false, baggage: true }],
  ['b3', { trace: false, baggage: false }],
])('propagators %j', (text, headers) => {
  const { trace, baggage, formats } = readPropagators(text);
  expect({ trace, baggage }).toEqual(headers);
  expect(formats).toHaveLength(text === 'b3' ? 1 : 0);
});

test('detectors choose what the resource says of host and process', () => {
  const detected = (text?: string): string[] => {
    if (text === undefined) delete process.env['OTEL_NODE_RESOURCE_DETECTORS'];
    else process.env['OTEL_NODE_RESOURCE_DETECTORS'] = text;
    try {
      return Object.keys(detectResource());
    } finally {
      delete process.env['OTEL_NODE_RESOURCE_DETECTORS'];
    }
  };
  expect(detected()).toEqual(
    expect.arrayContaining([
      'host.name',
      'process.pid',
      'host.arch',
      'process.executable.name',
      'process.executable.path',
      'process.command_args',
      'process.command',
      'process.owner',
      'process.runtime.description',
    ]),
  );
  expect(detected('none')).toEqual(['host.name', 'process.pid']);
  expect(detected('serviceinstance')).toEqual(['host.name', 'process.pid', 'service.instance.id']);
  expect(detected('all')).toEqual(expect.arrayContaining(['os.type', 'os.version', 'host.arch']));
});
