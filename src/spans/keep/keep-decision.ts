import { KEEP_REASONS, KEEP_WEIGHT_SHIFT, KEEP_WEIGHT_UNIT, KINDS } from '../layout.js';
import type { KeepReason } from '../layout.js';
import { isInShare, shareSampler } from '../sampling.js';
import type { Sampler } from '../sampling.js';
import type { Span } from '../span.js';
import { KeepLimit } from './error-limit.js';
import type { KeepRules } from './keep-options.js';
import type { OpenAttributes } from './released-figures.js';
import type { RequestCounts } from './request-counts.js';
import { hasFailed, kindOf } from './span-flags.js';
import { longestBlock } from './thread-stalls.js';

function codeOf(reason: KeepReason, share = 1): number {
  const weight = Math.round(Math.log2(1 / share) * KEEP_WEIGHT_UNIT);
  return KEEP_REASONS.indexOf(reason) | (weight << KEEP_WEIGHT_SHIFT);
}

/** Of the second half of a trace id: the random bits that decide first. */
export const RANDOM_HIGH = 0x00ff_ffff;

type TraceWords = readonly [t0: number, t1: number, t2: number, t3: number];

/** Reasons as spans have them: with the weight of a kept trace. */
export const UNDECIDED = codeOf('undecided');
export const CALLER = codeOf('caller');
const FIRST = codeOf('first');
const CHOSEN = codeOf('chosen');

/** Why a trace is kept, by the rules. */
export class KeepDecision {
  /** From how many nanoseconds on a local root of any route is slow. */
  readonly surelySlow: number;
  readonly #rules: KeepRules;
  readonly #limit: KeepLimit;
  readonly #sampler: Sampler;
  readonly #ratio: number;
  /** A trace of the share has at least this in the highest 24 random bits of its id. */
  readonly leastOfShare: number;
  /** How many of the first requests of each name are kept; a rule of the program hears of all. */
  readonly #first: number;
  readonly #open: OpenAttributes;

  constructor(rules: KeepRules, open: OpenAttributes) {
    this.#open = open;
    this.#rules = rules;
    this.#first = rules.decide === undefined ? rules.first : Infinity;
    this.#limit = new KeepLimit(rules.limit);
    this.#sampler = shareSampler(rules.ratio);
    this.leastOfShare = this.#sampler.rule === 'threshold' ? this.#sampler.high : 0;
    this.#ratio = codeOf('ratio', rules.ratio === 0 ? 1 : rules.ratio);
    const limits = [rules.slow, ...rules.routes.values()].map(({ ns }) => ns);
    this.surelySlow = Math.max(...limits);
  }

  /** The entry of `tracestate` for the share of all traces. */
  get threshold(): string {
    return this.#sampler.recorded;
  }

  /** The reason of a trace that is of the share of all; 0: it is not. */
  byRatio(t0: number, t1: number, t2: number, t3: number, traceState: string): number {
    const isShare = this.#rules.ratio > 0 && isInShare(this.#sampler, t0, t1, t2, t3, traceState);
    return isShare ? this.#ratio : 0;
  }

  /** Whether nothing speaks for a trace whose local root has not failed, if it took no longer than usual. */
  isUsual({ t0, t1, t2, t3, traceState }: Span, requests: RequestCounts): boolean {
    if (requests.seen < this.#first || traceState !== '') return false;
    // Most ids need no more than a look.
    if ((t2 & RANDOM_HIGH) < this.leastOfShare) return true;
    return this.byRatio(t0, t1, t2, t3, '') === 0;
  }

  /**
   * Why the trace of a local root that ends is kept; 0: there is no reason.
   *
   * @param withinFailed whether another span of the trace has failed.
   * @param isLimited whether the limit has had its say about a trace that is slow, or failed within.
   * @param duration nanoseconds, as is `now`.
   */
  reasonFor(
    span: Span,
    withinFailed: boolean,
    isLimited: boolean,
    requests: RequestCounts,
    duration: number,
    now: number,
  ): number {
    const rules = this.#rules;
    const { slowNs } = requests;
    requests.see(duration);
    if (rules.decide !== undefined) {
      const wish = this.#wish(span, duration);
      if (wish !== undefined) return wish ? CHOSEN : 0;
    }
    const { t0, t1, t2, t3, traceState } = span;
    const id = [t0, t1, t2, t3] as const;
    const failed = hasFailed(span.flags);
    let reason = 0;
    if (failed && rules.errors !== 'none') {
      const type = this.#open.textOf(span, TYPE);
      reason = this.within(`${requests.label} ${type}`, 'error', id, now);
    } else if (withinFailed && rules.errors === 'any') {
      if (!isLimited) reason = this.within(`${requests.label} within`, 'error', id, now);
    } else if (duration > slowNs) {
      if (!isLimited) reason = this.within(`${requests.label} slow`, 'slow', id, now);
    } else if (duration >= rules.stalls && longestBlock(duration) >= rules.stalls) {
      if (!isLimited) reason = this.within(`${requests.label} stall`, 'slow', id, now);
    } else {
      if (requests.seen <= rules.first) return FIRST;
      return this.byRatio(t0, t1, t2, t3, traceState);
    }
    if (reason === 0) requests.limited++;
    return reason;
  }

  /**
   * The reason, if the limit allows it; otherwise 0.
   *
   * @param kind gets its part of the limit.
   * @param now nanoseconds.
   */
  within(kind: string, reason: KeepReason, [t0, t1, t2, t3]: TraceWords, now: number): number {
    const share = this.#limit.shareOf(kind, now);
    if (share < 1 && !isInShare(shareSampler(share), t0, t1, t2, t3, '')) return 0;
    this.#limit.noteKept();
    return codeOf(reason, share);
  }

  #wish(span: Span, duration: number): boolean | undefined {
    try {
      const wish: unknown = this.#rules.decide!({
        name: span.name,
        kind: KINDS[kindOf(span.flags)] ?? 'internal',
        duration: duration / 1e6,
        failed: hasFailed(span.flags),
        attributes: { ...span.attributes },
      });
      return typeof wish === 'boolean' ? wish : undefined;
    } catch {
      // A rule of the program breaks none of its requests.
      return undefined;
    }
  }
}

const TYPE = 'error.type';
