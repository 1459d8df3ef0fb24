import { limitOf } from './limits.js';
import { unknownPropagators } from './context/propagators-variable.js';
import { readDetectors } from './resource-detectors.js';
import { readResourceVariable } from './resource-variable.js';
import { readSamplerVariables } from './sampling.js';

/** Values of `OTEL_LOG_LEVEL`. */
const LOG_LEVELS: readonly string[] = ['none', 'error', 'warn', 'info', 'debug', 'verbose', 'all'];

const LIMITS: readonly string[] = [
  'OTEL_ATTRIBUTE_COUNT_LIMIT',
  'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT',
  'OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT',
  'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT',
  'OTEL_SPAN_EVENT_COUNT_LIMIT',
  'OTEL_SPAN_LINK_COUNT_LIMIT',
  'OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT',
  'OTEL_LINK_ATTRIBUTE_COUNT_LIMIT',
];

const SAMPLER_ARGUMENT = 'OTEL_TRACES_SAMPLER_ARG';

/** Those that Tracewright follows. */
const FOLLOWED: ReadonlySet<string> = new Set([
  ...LIMITS,
  SAMPLER_ARGUMENT,
  'OTEL_LOG_LEVEL',
  'OTEL_NODE_DISABLED_INSTRUMENTATIONS',
  'OTEL_NODE_ENABLED_INSTRUMENTATIONS',
  'OTEL_NODE_RESOURCE_DETECTORS',
  'OTEL_PROPAGATORS',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SDK_DISABLED',
  'OTEL_SEMCONV_STABILITY_OPT_IN',
  'OTEL_SERVICE_NAME',
  'OTEL_TRACES_SAMPLER',
]);

/** Variables of OpenTelemetry that change nothing here, by what to know instead. The first pattern that matches holds. */
const UNUSED: readonly (readonly [names: RegExp, instead: string])[] = [
  [
    /^OTEL_(METRICS?|LOGS|LOGRECORD|BLRP|PROFILES)_|^OTEL_EXPORTER_(OTLP_(METRICS|LOGS|PROFILES)|PROMETHEUS)_|^OTEL_NODE_EXPERIMENTAL_SDK_METRICS$/,
    'Tracewright records traces, no metrics, logs and profiles',
  ],
  [
    /^OTEL_TRACES_EXPORTER$|^OTEL_EXPORTER_(OTLP|ZIPKIN|JAEGER)_/,
    'spans are written to files; TRACEWRIGHT_SHIP=URL, or `tracewright ship`, sends them by OTLP',
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
  [
    /^OTEL_SPAN_ATTRIBUTE_PER_(EVENT|LINK)_COUNT_LIMIT$/,
    'OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT and OTEL_LINK_ATTRIBUTE_COUNT_LIMIT limit them',
  ],
  [/^OTEL_/, 'Tracewright does not know the name; an instrumentation of the program may read it'],
];

/** Values by which a program wants what Tracewright does anyway. */
const WANTED: Readonly<Record<string, string>> = {
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'none',
  OTEL_PROFILES_EXPORTER: 'none',
};

function mustBe(name: string, limit: string, value: string, used: string): string {
  return `${name} must be ${limit}, got ${JSON.stringify(value)}; ${used}`;
}

/** @param done what does not happen to them, and what happens instead. */
function unknownIn(name: string, unknown: readonly string[], done: string): string | undefined {
  if (unknown.length === 0) return undefined;
  return `${name}: ${unknown.join(', ')} ${unknown.length === 1 ? 'is' : 'are'} not ${done}`;
}

/** The fault of the value of a variable that Tracewright reads; undefined: none. */
function faultOf(name: string, value: string, env: NodeJS.ProcessEnv): string | undefined {
  if (LIMITS.includes(name) && limitOf(value) === undefined) {
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
    case SAMPLER_ARGUMENT:
      return /^\s*(parentbased_)?traceidratio\s*$/i.test(env['OTEL_TRACES_SAMPLER'] ?? '')
        ? undefined
        : `${name}: not used; of OTEL_TRACES_SAMPLER only traceidratio and parentbased_traceidratio have an argument`;
    case 'OTEL_SDK_DISABLED':
      return ['true', 'false'].includes(value.trim().toLowerCase())
        ? undefined
        : mustBe(name, 'true or false', value, 'false is used');
    default:
      return undefined;
  }
}

/**
 * Messages about a program's variables of OpenTelemetry: those that are wrong, and those that change nothing
 * here. A line each, or one for several of the same kind.
 */
export function answersToVariables(env: NodeJS.ProcessEnv): string[] {
  const lines: string[] = [];
  const unused = new Map<string, string[]>();
  for (const name of Object.keys(env).sort()) {
    const value = env[name] ?? '';
    // By the specification an empty variable is one that is not set.
    if (!name.startsWith('OTEL_') || value.trim() === '') continue;
    const fault = faultOf(name, value, env);
    if (fault !== undefined) lines.push(fault);
    if (FOLLOWED.has(name)) continue;
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
  for (const [instead, names] of unused) {
    lines.push(`${names.join(', ')}: not used; ${instead}`);
  }
  return lines;
}
