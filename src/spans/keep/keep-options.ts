import { outOfRange, wrongType } from '../../core/errors.js';
import { integerIn, ownOptions } from '../../core/options/argument.js';
import { valueOf } from '../../core/settings/value-of.js';
import type { SpanAttributes } from '../attributes.js';
import type { SpanKind } from '../layout.js';

/** A duration in milliseconds, or a percentile of the route's own recent requests: `p99`. */
export type SlowLimit = number | `p${number}`;

/** A request whose trace is to be kept or released. */
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
  /** Requests that had so many milliseconds of one stall of the event loop, as its cause or not. The hook watches it. */
  stalls?: number;
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
  /** Nanoseconds; Infinity: stalls do not matter. */
  readonly stalls: number;
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

export const NEVER: SlowRule = { ns: Infinity, percent: 0 };
export const DEFAULT_LIMIT = 100;
const MOST_FIRST = 1_000_000;
const MOST_LIMIT = 1_000_000;
/** A day: what takes longer is no request. */
const MOST_MS = 86_400_000;

/** A percentile such as `p99`; undefined: it is none. */
export function percentileOf(text: string): SlowRule | undefined {
  const percent = Number(/^p(\d{1,2}(?:\.\d+)?)$/.exec(text)?.[1] ?? 0);
  return percent === 0 ? undefined : { ns: Infinity, percent };
}

/** Nanoseconds. */
function millisecondsOf(field: string, value: unknown): number {
  const limit = `milliseconds above 0, at most ${MOST_MS}`;
  if (typeof value !== 'number') throw wrongType(field, value, limit);
  if (!(value > 0 && value <= MOST_MS)) throw outOfRange(field, value, limit);
  return value * 1e6;
}

function slowRule(field: string, value: unknown): SlowRule {
  if (typeof value === 'number') return { ns: millisecondsOf(field, value), percent: 0 };
  if (typeof value !== 'string')
    throw wrongType(field, value, 'milliseconds, or a percentile such as p99');
  const rule = percentileOf(value);
  if (rule === undefined)
    throw outOfRange(field, value, 'milliseconds as a number, or a percentile such as p99');
  return rule;
}

function ratioOf(field: string, value: unknown): number {
  const limit = 'a number from 0 to 1';
  if (typeof value !== 'number') throw wrongType(field, value, limit);
  if (!(value >= 0 && value <= 1)) throw outOfRange(field, value, limit);
  return value;
}

export function waitingBytesOf(given: unknown): number {
  return 2 ** Math.ceil(Math.log2(valueOf('WAITING_BYTES', given)));
}

/** @throws TracewrightError that names the option and what it accepts. */
export function checkKeep(given: KeepOptions): KeepRules {
  const own = ownOptions(
    given,
    ['slowerThan', 'stalls', 'errors', 'ratio', 'first', 'limit', 'waitingBytes', 'decide'],
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
    stalls: own.stalls === undefined ? Infinity : millisecondsOf('keep.stalls', own.stalls),
    errors: errors === 'any' ? 'any' : errors ? 'root' : 'none',
    ratio: ratioOf('keep.ratio', own.ratio ?? 0),
    first: integerIn('keep.first', own.first ?? 0, 0, MOST_FIRST),
    limit: limit === false ? Infinity : integerIn('keep.limit', limit, 1, MOST_LIMIT),
    decide: own.decide,
    waitingBytes: waitingBytesOf(own.waitingBytes),
  });
}

function slowText({ ns, percent }: SlowRule): string[] {
  return [...(ns < Infinity ? [`${ns / 1e6}ms`] : []), ...(percent > 0 ? [`p${percent}`] : [])];
}

/** Adds the rules as text. */
export function withText(rules: Omit<KeepRules, 'text'>): KeepRules {
  const { slow, routes, stalls, errors, ratio, first, limit, decide } = rules;
  const terms = [
    ...slowText(slow).map((each) => `slower:${each}`),
    ...[...routes].flatMap(([route, rule]) =>
      slowText(rule).map((each) => `slower:${route}=${each}`),
    ),
    ...(stalls < Infinity ? [`stalls:${stalls / 1e6}ms`] : []),
    ...(errors === 'none' ? [] : [errors === 'any' ? 'errors:any' : 'errors']),
    ...(ratio > 0 ? [`ratio:${ratio}`] : []),
    ...(first > 0 ? [`first:${first}`] : []),
    ...(decide === undefined ? [] : ['decide']),
    limit < Infinity ? `limit:${limit}/s` : 'limit:off',
  ];
  return { ...rules, text: terms.join(',') };
}
