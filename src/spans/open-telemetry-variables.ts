import { limitOf } from './limits.js';
import { unknownPropagators } from './context/propagators-variable.js';
import { readDetectors } from './resource-detectors.js';
import { readResourceVariable } from './resource-variable.js';
import { RATIO_RULES, readSamplerVariables } from './sampling.js';

/** Values of `OTEL_LOG_LEVEL`. */
export const LOG_LEVELS: readonly string[] = [
  'none',
  'error',
  'warn',
  'info',
  'debug',
  'verbose',
  'all',
];

/** Variables of OpenTelemetry that change nothing here, by what to know instead. The first pattern that matches holds. */
const UNUSED: readonly (readonly [names: RegExp, instead: string])[] = [
  [
    /^OTEL_(METRICS?|LOGS|LOGRECORD|BLRP)_|^OTEL_EXPORTER_(OTLP_METRICS|OTLP_LOGS|PROMETHEUS)_/,
    'Tracewright records traces, no metrics and logs',
  ],
  [
    /^OTEL_TRACES_EXPORTER$|^OTEL_EXPORTER_(OTLP|ZIPKIN|JAEGER)_/,
    'spans are written to files; `tracewright convert --to otlp` makes requests of OTLP of them',
  ],
  [
    /^OTEL_BSP_/,
    'there are no batches: a span that has ended is in memory that survives the process',
  ],
  [
    /^OTEL_(EXPERIMENTAL_)?CONFIG_FILE$/,
    'Tracewright reads no configuration file, only the other variables',
  ],
  [/^OTEL_ENTITIES$/, 'OTEL_RESOURCE_ATTRIBUTES describes the service'],
];

/** Values by which a program wants what Tracewright does anyway. */
const WANTED: Readonly<Record<string, string>> = {
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'none',
};

const LIMIT =
  /^OTEL_(?:(?:SPAN_|EVENT_|LINK_)?ATTRIBUTE|SPAN_EVENT|SPAN_LINK)_(?:COUNT|VALUE_LENGTH)_LIMIT$/;

function mustBe(name: string, limit: string, value: string, used: string): string {
  return `${name} must be ${limit}, got ${JSON.stringify(value)}; ${used}`;
}

/** @param done what does not happen to them, and what happens instead. */
function unknownIn(name: string, unknown: readonly string[], done: string): string | undefined {
  if (unknown.length === 0) return undefined;
  return `${name}: ${unknown.join(', ')} ${unknown.length === 1 ? 'is' : 'are'} not ${done}`;
}

/** What is wrong with the value of a variable that Tracewright reads. */
function faultOf(name: string, value: string): string | undefined {
  if (LIMIT.test(name) && limitOf(value) === undefined) {
    return mustBe(name, 'a whole number, at least 0', value, 'it counts as not set');
  }
  switch (name) {
    case 'OTEL_RESOURCE_ATTRIBUTES': {
      const { fault } = readResourceVariable(value);
      return fault === undefined ? undefined : `${name} counts as not set: ${fault}`;
    }
    case 'OTEL_LOG_LEVEL':
      return LOG_LEVELS.includes(value.trim().toLowerCase())
        ? undefined
        : mustBe(name, `one of ${LOG_LEVELS.join(', ')}`, value, 'it counts as not set');
    case 'OTEL_NODE_RESOURCE_DETECTORS':
      return unknownIn(
        name,
        readDetectors(value).unknown,
        'detected; OTEL_RESOURCE_ATTRIBUTES can name what they would find',
      );
    case 'OTEL_PROPAGATORS':
      return unknownIn(
        name,
        unknownPropagators(value),
        'supported; requests carry the headers of the others, or W3C trace context if there are none',
      );
    case 'OTEL_SEMCONV_STABILITY_OPT_IN':
      return value.includes('/dup')
        ? `${name}: attributes have their stable names only; --where and Find also know the older ones`
        : undefined;
    case 'OTEL_SDK_DISABLED':
      return ['true', 'false'].includes(value.trim().toLowerCase())
        ? undefined
        : mustBe(name, 'true or false', value, 'false is used');
    default:
      return undefined;
  }
}

/**
 * What a program should know of its variables of OpenTelemetry: those that are wrong, and those that change nothing
 * here. A line each, or one for several of the same kind.
 */
export function answersToVariables(env: NodeJS.ProcessEnv): string[] {
  const lines: string[] = [];
  const unused = new Map<string, string[]>();
  for (const name of Object.keys(env).sort()) {
    const value = env[name] ?? '';
    // By the specification an empty variable is one that is not set.
    if (!name.startsWith('OTEL_') || value.trim() === '') continue;
    const fault = faultOf(name, value);
    if (fault !== undefined) lines.push(fault);
    const [, instead] = UNUSED.find(([names]) => names.test(name)) ?? [];
    if (instead === undefined || WANTED[name] === value.trim().toLowerCase()) continue;
    unused.set(instead, [...(unused.get(instead) ?? []), name]);
  }
  const { fault, sampler } = readSamplerVariables(env);
  if (fault !== undefined) {
    const [name, limit] = fault;
    const used = `${sampler.parentBased ? 'parentbased_' : ''}always_on is used`;
    lines.push(mustBe(name, limit, env[name] ?? '', used));
  }
  const rule = (env['TRACEWRIGHT_RATIO_RULE'] ?? '').trim().toLowerCase();
  if (rule !== '' && !RATIO_RULES.includes(rule)) {
    lines.push(
      mustBe('TRACEWRIGHT_RATIO_RULE', RATIO_RULES.join(' or '), rule, 'threshold is used'),
    );
  }
  for (const [instead, names] of unused) {
    lines.push(`${names.join(', ')}: not used; ${instead}`);
  }
  return lines;
}
