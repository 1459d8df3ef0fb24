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

/** Values of `OTEL_TRACES_SAMPLER` that are followed. */
export const SAMPLERS: readonly string[] = ['always_on', 'always_off', 'traceidratio'].flatMap(
  (name) => [name, `parentbased_${name}`],
);

/** What the variables of samplers say; a fault names the variable, and what is valid. */
export interface SamplerVariables {
  readonly sampler: Sampler;
  readonly fault: readonly [variable: string, limit: string] | undefined;
}

/** Reads `OTEL_TRACES_SAMPLER` and its argument. With a fault every trace is recorded. */
export function readSamplerVariables(env: NodeJS.ProcessEnv): SamplerVariables {
  const name = (env['OTEL_TRACES_SAMPLER'] ?? '').trim().toLowerCase();
  if (name === '') return { sampler: ALWAYS, fault: undefined };
  if (!SAMPLERS.includes(name)) {
    return { sampler: ALWAYS, fault: ['OTEL_TRACES_SAMPLER', `one of ${SAMPLERS.join(', ')}`] };
  }
  const parentBased = name.startsWith('parentbased_');
  if (name.endsWith('always_off')) return { sampler: { ratio: 0, parentBased }, fault: undefined };
  const given = (env['OTEL_TRACES_SAMPLER_ARG'] ?? '').trim();
  const ratio = name.endsWith('always_on') || given === '' ? 1 : Number(given);
  if (ratio >= 0 && ratio <= 1) return { sampler: { ratio, parentBased }, fault: undefined };
  return {
    sampler: { ratio: 1, parentBased },
    fault: ['OTEL_TRACES_SAMPLER_ARG', 'a number from 0 to 1'],
  };
}

/** @throws TracewrightError when the option is no number from 0 to 1. */
export function checkSampler(sample: unknown): Sampler {
  if (sample === undefined) return readSamplerVariables(process.env).sampler;
  const limit = 'a number from 0 to 1';
  if (typeof sample !== 'number') throw wrongType('sample', sample, limit);
  if (!(sample >= 0 && sample <= 1)) throw outOfRange('sample', sample, limit);
  return { ratio: sample, parentBased: true };
}
