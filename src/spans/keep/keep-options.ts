import { outOfRange, TracewrightError, wrongType } from '../../core/errors.js';
import { didYouMean } from '../../core/nearest-name.js';
import { integerIn, ownOptions } from '../../core/options/argument.js';
import { numberSetting } from '../../core/options/setting.js';
import type { SpanAttributes } from '../attributes.js';
import type { SpanKind } from '../layout.js';

/** A duration in milliseconds, or a percentile of the route's own recent requests: `p99`. */
export type SlowLimit = number | `p${number}`;

/** What is known of a request when it is decided whether its trace is kept. */
export interface DecidedRoot {
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds. */
  readonly duration: number;
  /** Whether the local root has failed. */
  readonly failed: boolean;
  readonly attributes: SpanAttributes;
}

/** Which traces are kept whole. The others leave counts, errors and durations. */
export interface KeepOptions {
  /** Requests that take longer; by route, or for all. */
  slowerThan?: SlowLimit | Readonly<Record<string, SlowLimit>>;
  /** Traces whose local root has failed; `any`: of which any span has. */
  errors?: boolean | 'any';
  /** Share of all other traces, 0 to 1, by trace id: all services keep the same ones. Default 0. */
  ratio?: number;
  /** So many of the first requests of each route. */
  first?: number;
  /**
   * Failed and slow traces a second and thread that are kept whatever their number; of more of them a share of each
   * route and type of error is kept, of rare ones all. Default 100; `false`: no limit.
   */
  limit?: number | false;
  /**
   * Bytes of each thread for spans that wait for the decision, 1 MiB to 512 MiB, rounded up to a power of two.
   * Default 8 MiB, or `TRACEWRIGHT_WAITING_BYTES`. Set it with the target.
   */
  waitingBytes?: number;
  /** Asked first when a local root ends: true keeps the trace, false releases it, undefined leaves it to the rest. */
  decide?: (root: DecidedRoot) => boolean | undefined;
}

/** When a request is slow: nanoseconds, or a percentile of its route; 0: none. */
export interface SlowRule {
  readonly ns: number;
  readonly percent: number;
}

/** Checked options. */
export interface KeepRules {
  /** For routes without a rule of their own. */
  readonly slow: SlowRule;
  readonly routes: ReadonlyMap<string, SlowRule>;
  readonly errors: 'none' | 'root' | 'any';
  readonly ratio: number;
  readonly first: number;
  /** Infinity: none. */
  readonly limit: number;
  readonly decide: KeepOptions['decide'];
  readonly waitingBytes: number;
  /** The rules as the variable would say them. */
  readonly text: string;
}

const VARIABLE = 'TRACEWRIGHT_KEEP';
const NEVER: SlowRule = { ns: Infinity, percent: 0 };
const DEFAULT_LIMIT = 100;
const MIB = 1 << 20;
const DEFAULT_WAITING = 8 * MIB;
const MOST_WAITING = 512 * MIB;
const MOST_FIRST = 1_000_000;
const MOST_LIMIT = 1_000_000;
/** A day: what takes longer is no request. */
const MOST_MS = 86_400_000;

const TERMS = ['slower', 'errors', 'ratio', 'first', 'limit'];
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, us: 0.001 };
const DURATION_LIMIT =
  'a duration such as 500ms or 2s, or a percentile such as p99; of one route slower:/path=200ms';
const SHAPES =
  'slower:500ms, slower:/path=200ms, slower:p99, errors, errors:any, ratio:0.01, first:100 or limit:100/s';

function slowRule(field: string, value: unknown): SlowRule {
  if (typeof value === 'number') {
    if (!(value > 0 && value <= MOST_MS)) {
      throw outOfRange(field, value, `milliseconds above 0, at most ${MOST_MS}`);
    }
    return { ns: value * 1e6, percent: 0 };
  }
  if (typeof value !== 'string')
    throw wrongType(field, value, 'milliseconds, or a percentile such as p99');
  const percent = /^p(\d{1,2}(?:\.\d+)?)$/.exec(value)?.[1];
  if (percent === undefined || Number(percent) === 0)
    throw outOfRange(field, value, 'milliseconds as a number, or a percentile such as p99');
  return { ns: Infinity, percent: Number(percent) };
}

function ratioOf(field: string, value: unknown): number {
  const limit = 'a number from 0 to 1';
  if (typeof value !== 'number') throw wrongType(field, value, limit);
  if (!(value >= 0 && value <= 1)) throw outOfRange(field, value, limit);
  return value;
}

function waitingBytesOf(given: unknown): number {
  const { field, value } = numberSetting(
    'keep.waitingBytes',
    given,
    'TRACEWRIGHT_WAITING_BYTES',
    DEFAULT_WAITING,
  );
  return 2 ** Math.ceil(Math.log2(integerIn(field, value, MIB, MOST_WAITING)));
}

/** @throws TracewrightError that names the option and what it accepts. */
export function checkKeep(given: KeepOptions): KeepRules {
  const own = ownOptions(
    given,
    ['slowerThan', 'errors', 'ratio', 'first', 'limit', 'waitingBytes', 'decide'],
    'keep',
  );
  const slower: unknown = own.slowerThan;
  const isByRoute = typeof slower === 'object' && slower !== null;
  const routes = new Map<string, SlowRule>();
  if (isByRoute) {
    for (const [route, each] of Object.entries(slower)) {
      routes.set(route, slowRule(`keep.slowerThan[${JSON.stringify(route)}]`, each));
    }
  }
  const slow = isByRoute || slower === undefined ? NEVER : slowRule('keep.slowerThan', slower);
  const errors: unknown = own.errors ?? false;
  if (errors !== 'any' && typeof errors !== 'boolean')
    throw wrongType('keep.errors', errors, "a boolean or 'any'");
  const limit: unknown = own.limit ?? DEFAULT_LIMIT;
  return withText({
    slow,
    routes,
    errors: errors === 'any' ? 'any' : errors ? 'root' : 'none',
    ratio: ratioOf('keep.ratio', own.ratio ?? 0),
    first: integerIn('keep.first', own.first ?? 0, 0, MOST_FIRST),
    limit: limit === false ? Infinity : integerIn('keep.limit', limit, 1, MOST_LIMIT),
    decide: own.decide,
    waitingBytes: waitingBytesOf(own.waitingBytes),
  });
}

function durationOf(text: string): SlowRule | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(us|ms|s|m)$/.exec(text) ?? [];
  if (number !== undefined) return { ns: Number(number) * UNITS[unit!]! * 1e6, percent: 0 };
  const percent = /^p(\d{1,2}(?:\.\d+)?)$/.exec(text)?.[1];
  return percent === undefined || Number(percent) === 0
    ? undefined
    : { ns: Infinity, percent: Number(percent) };
}

function wrongTerm(term: string, limit: string): TracewrightError {
  const [name = ''] = term.split(':', 1);
  const near = TERMS.includes(name) ? '' : didYouMean(name, TERMS);
  const between = /[;\s]/.test(term) ? '; terms have commas between them' : '';
  return new TracewrightError(
    'ERR_ARGUMENT_RANGE',
    `${VARIABLE}: ${JSON.stringify(term)} must be ${limit}${near}${between}`,
    { field: VARIABLE, value: term, limit },
  );
}

/**
 * Reads `TRACEWRIGHT_KEEP`.
 *
 * @throws TracewrightError that names the term and what would be right.
 */
export function parseKeep(text: string): KeepRules {
  let slow = NEVER;
  const routes = new Map<string, SlowRule>();
  const rules = {
    errors: 'none' as KeepRules['errors'],
    ratio: 0,
    first: 0,
    limit: DEFAULT_LIMIT as number,
  };
  for (const term of text.split(',').map((each) => each.trim())) {
    if (term === '') continue;
    const colon = term.indexOf(':');
    const name = colon === -1 ? term : term.slice(0, colon);
    const value = colon === -1 ? '' : term.slice(colon + 1);
    if (name === 'slower') {
      const equals = value.lastIndexOf('=');
      const rule = durationOf(value.slice(equals + 1));
      if (rule === undefined || equals === 0)
        throw wrongTerm(term, `slower: and ${DURATION_LIMIT}`);
      if (equals === -1)
        slow = { ns: Math.min(slow.ns, rule.ns), percent: rule.percent || slow.percent };
      else routes.set(value.slice(0, equals), rule);
    } else if (name === 'errors') {
      if (value !== '' && value !== 'any') throw wrongTerm(term, 'errors or errors:any');
      rules.errors = value === 'any' ? 'any' : 'root';
    } else if (name === 'ratio') {
      const ratio = value === '' ? NaN : Number(value);
      if (!(ratio >= 0 && ratio <= 1)) throw wrongTerm(term, 'ratio: and a number from 0 to 1');
      rules.ratio = ratio;
    } else if (name === 'first') {
      if (!/^\d{1,7}$/.test(value)) throw wrongTerm(term, 'first: and a number of requests');
      rules.first = Number(value);
    } else if (name === 'limit') {
      const count = /^(\d{1,7})\/s$/.exec(value)?.[1];
      if (value !== 'off' && (count === undefined || Number(count) === 0)) {
        throw wrongTerm(term, 'limit: and a number a second such as 100/s, or limit:off');
      }
      rules.limit = count === undefined ? Infinity : Number(count);
    } else {
      throw wrongTerm(term, SHAPES);
    }
  }
  return withText({
    slow,
    routes,
    ...rules,
    decide: undefined,
    waitingBytes: waitingBytesOf(undefined),
  });
}

function slowText({ ns, percent }: SlowRule): string[] {
  return [...(ns < Infinity ? [`${ns / 1e6}ms`] : []), ...(percent > 0 ? [`p${percent}`] : [])];
}

function withText(rules: Omit<KeepRules, 'text'>): KeepRules {
  const { slow, routes, errors, ratio, first, limit, decide } = rules;
  const terms = [
    ...slowText(slow).map((each) => `slower:${each}`),
    ...[...routes].flatMap(([route, rule]) =>
      slowText(rule).map((each) => `slower:${route}=${each}`),
    ),
    ...(errors === 'none' ? [] : [errors === 'any' ? 'errors:any' : 'errors']),
    ...(ratio > 0 ? [`ratio:${ratio}`] : []),
    ...(first > 0 ? [`first:${first}`] : []),
    ...(decide === undefined ? [] : ['decide']),
    limit < Infinity ? `limit:${limit}/s` : 'limit:off',
  ];
  return { ...rules, text: terms.join(',') };
}
