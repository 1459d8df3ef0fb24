import { outOfRange, wrongType } from '../core/errors.js';
import { valueOf } from '../core/settings/value-of.js';
import { randomValue, thresholdMember } from './context/trace-state-entries.js';

/** Which of a share of traces are recorded. */
type RatioRule = 'threshold' | 'javascript';

/** Which traces are recorded. */
export interface Sampler {
  /** Of the traces that begin here, or whose caller does not decide: from 0 to 1. */
  readonly ratio: number;
  /** Most programs do. */
  readonly recordsAll: boolean;
  /** Whether a caller's decision holds. */
  readonly parentBased: boolean;
  readonly rule: RatioRule;
  /** The threshold of 56 bits, in words of 24 and 32. */
  readonly high: number;
  readonly low: number;
  /** The member of `tracestate` that a recorded trace gets; empty: none. */
  readonly recorded: string;
}

const BITS = 56;
const MOST = 2 ** BITS;
const RANDOM_BITS = 0x00ff_ffff;
const MOST_OF_32 = 0xffff_ffff;

function samplerOf(ratio: number, parentBased: boolean): Sampler {
  const rule = valueOf('RATIO_RULE');
  // 2^56 itself rejects everything.
  const threshold = Math.round((1 - ratio) * MOST);
  const isShare = threshold > 0 && threshold < MOST;
  return {
    ratio: threshold < MOST ? ratio : 0,
    recordsAll: ratio >= 1,
    parentBased,
    rule,
    high: Math.floor(threshold / 2 ** 32),
    low: threshold % 2 ** 32,
    // The other rule chooses by no threshold.
    recorded: isShare && rule === 'threshold' ? thresholdMember(BigInt(threshold)) : '',
  };
}

/**
 * Whether a trace is among a share of all. By the rule of W3C and OpenTelemetry's specification, the 56 random bits of
 * its id must reach a threshold, so that all services keep the same traces. By the other rule it is chosen as
 * OpenTelemetry's JavaScript does.
 *
 * @param t0 to `t3`: the words of the trace id.
 * @param traceState may have a random value in place of the id's.
 */
export function isInShare(
  { ratio, recordsAll, rule, high, low }: Sampler,
  t0: number,
  t1: number,
  t2: number,
  t3: number,
  traceState: string,
): boolean {
  if (recordsAll) return true;
  if (rule === 'javascript') return (t0 ^ t1 ^ t2 ^ t3) >>> 0 < Math.floor(ratio * MOST_OF_32);
  if (ratio === 0) return false;
  const given = traceState === '' ? undefined : randomValue(traceState);
  const randomHigh =
    given === undefined ? t2 & RANDOM_BITS : Number.parseInt(given.slice(0, 6), 16);
  const randomLow = given === undefined ? t3 >>> 0 : Number.parseInt(given.slice(6), 16);
  return randomHigh > high || (randomHigh === high && randomLow >= low);
}

/** A sampler of a share of traces, from 0 to 1. */
export function shareSampler(ratio: number): Sampler {
  return samplerOf(ratio, true);
}

/** Values of `OTEL_TRACES_SAMPLER` that are followed. */
const SAMPLERS: readonly string[] = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [
  name,
  `parentbased_${name}`,
]);

/** The sampler of the variables; a fault names the variable, and what is valid. */
interface SamplerVariables {
  readonly sampler: Sampler;
  readonly fault: readonly [variable: string, limit: string] | undefined;
}

/** Reads `OTEL_TRACES_SAMPLER` and its argument. With a fault every trace is recorded. */
export function readSamplerVariables(env: NodeJS.ProcessEnv): SamplerVariables {
  const name = (env['OTEL_TRACES_SAMPLER'] ?? '').trim().toLowerCase();
  const always = samplerOf(1, true);
  if (name === '') return { sampler: always, fault: undefined };
  if (!SAMPLERS.includes(name)) {
    return { sampler: always, fault: ['OTEL_TRACES_SAMPLER', `one of ${SAMPLERS.join(', ')}`] };
  }
  const parentBased = name.startsWith('parentbased_');
  if (name.endsWith('always_off')) {
    return { sampler: samplerOf(0, parentBased), fault: undefined };
  }
  const given = (env['OTEL_TRACES_SAMPLER_ARG'] ?? '').trim();
  const ratio = name.endsWith('always_on') || given === '' ? 1 : Number(given);
  if (ratio >= 0 && ratio <= 1) {
    return { sampler: samplerOf(ratio, parentBased), fault: undefined };
  }
  return {
    sampler: samplerOf(1, parentBased),
    fault: ['OTEL_TRACES_SAMPLER_ARG', 'a number from 0 to 1'],
  };
}

/** @throws TracewrightError when the option is no number from 0 to 1. */
export function checkSampler(sample: unknown): Sampler {
  if (sample === undefined) return readSamplerVariables(process.env).sampler;
  const limit = 'a number from 0 to 1';
  if (typeof sample !== 'number') throw wrongType('sample', sample, limit);
  if (!(sample >= 0 && sample <= 1)) throw outOfRange('sample', sample, limit);
  return samplerOf(sample, true);
}
