import { outOfRange, wrongType } from '../core/errors.js';

/** Which traces are recorded. */
export interface Sampler {
  /** Of the traces that begin here, or whose caller does not decide: from 0 to 1. */
  readonly ratio: number;
  /** Whether a caller's decision holds. */
  readonly parentBased: boolean;
}

const ALWAYS: Sampler = { ratio: 1, parentBased: true };

const PER_TWO_32 = 2 ** -32;
const RANDOM_BITS = 0x00ff_ffff;

/**
 * Whether a trace is among a share of all: by the 56 bits of its id that W3C says are random, so that all
 * services that do so keep the same traces.
 *
 * @param high and `low`: the last two words of the trace id.
 */
export function isInShare(ratio: number, high: number, low: number): boolean {
  if (ratio >= 1) return true;
  const random = ((high & RANDOM_BITS) + (low >>> 0) * PER_TWO_32) / (RANDOM_BITS + 1);
  return random >= 1 - ratio;
}

/** `OTEL_TRACES_SAMPLER`; an unknown one counts as not set. */
function samplerOfVariables(): Sampler {
  const name = (process.env['OTEL_TRACES_SAMPLER'] ?? '').trim().toLowerCase();
  const match = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name);
  if (match === null) return ALWAYS;
  const [, parent, which] = match;
  const given = (process.env['OTEL_TRACES_SAMPLER_ARG'] ?? '').trim();
  const share = given === '' ? 1 : Number(given);
  const ratio = which === 'always_off' ? 0 : which === 'always_on' ? 1 : share;
  return { ratio: ratio >= 0 && ratio <= 1 ? ratio : 1, parentBased: parent !== undefined };
}

/** @throws TracewrightError when the option is no number from 0 to 1. */
export function checkSampler(sample: unknown): Sampler {
  if (sample === undefined) return samplerOfVariables();
  const limit = 'a number from 0 to 1';
  if (typeof sample !== 'number') throw wrongType('sample', sample, limit);
  if (!(sample >= 0 && sample <= 1)) throw outOfRange('sample', sample, limit);
  return { ratio: sample, parentBased: true };
}
