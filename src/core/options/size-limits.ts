import { integerIn, oneOf, ownOptions } from './argument.js';
import { outOfRange } from '../errors.js';
import { getNote, putNote } from '../process-notes.js';
import { numberSetting, setting } from './setting.js';

/** How much disk a trace may take. Off by default. */
export interface SizeOptions {
  /**
   * Most bytes that the trace takes, all its numbered pieces together; the rings come on top. From 4
   * times `ringBytes`. Default none, or `TRACEWRIGHT_MAX_BYTES`.
   */
  maxBytes?: number;
  /**
   * Bytes after which the next numbered piece of the trace begins, from 2 times `ringBytes` to half
   * of `maxBytes`. Default, where the oldest are deleted, an eighth of `maxBytes` but no less than 2 times
   * `ringBytes`; else none; or `TRACEWRIGHT_ROTATE_BYTES`.
   */
  rotateBytes?: number;
  /**
   * What happens when `maxBytes` are reached: the oldest pieces are deleted (default), or tracing
   * stops and further events are dropped and counted. Or `TRACEWRIGHT_AT_MAX_BYTES`.
   */
  atMaxBytes?: 'deleteOldest' | 'stop';
}

/** Size options with every default filled in; 0: no limit. */
export interface CheckedSizeOptions {
  maxBytes: number;
  rotateBytes: number;
  atMaxBytes: 'deleteOldest' | 'stop';
}

/** The names of {@link SizeOptions}. */
export const SIZE_OPTIONS = ['maxBytes', 'rotateBytes', 'atMaxBytes'] as const;

interface SizeRange {
  /** The least, in rings. */
  rings: number;
  ringBytes: number;
  most: number;
}

function sizeIn(field: string, value: unknown, { rings, ringBytes, most }: SizeRange): number {
  const least = rings * ringBytes;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value >= least) {
    return integerIn(field, value, least, most);
  }
  const limit = `at least ${rings} times ringBytes, which is ${ringBytes}`;
  throw outOfRange(field, value, limit);
}

const CLAIM = 'core.size-variables';

/**
 * Makes the variables the register hook's: they limit its traces, and are no defaults of those that the
 * program opens in any thread of this process.
 */
export function claimSizeVariables(): void {
  putNote(CLAIM, 'hook');
}

/**
 * The limits of the variables, even if the register hook has taken them for its own files.
 *
 * @param ringBytes size of each ring: a write is at most as large.
 * @throws TracewrightError that names the variable and its limit.
 */
export function readSizeVariables(ringBytes: number): CheckedSizeOptions {
  return check(ownOptions({}), ringBytes, true);
}

/**
 * Fills in defaults, from the variables unless they are claimed, and checks the result.
 *
 * @param ringBytes size of each ring: a write is at most as large.
 * @throws TracewrightError that names the option, or the variable, and its limit.
 */
export function checkSizeOptions(options: SizeOptions, ringBytes: number): CheckedSizeOptions {
  return check(ownOptions(options), ringBytes, getNote(CLAIM) === '');
}

function check(options: SizeOptions, ringBytes: number, variables: boolean): CheckedSizeOptions {
  const variable = (name: string) => (variables ? `TRACEWRIGHT_${name}` : undefined);
  const end = setting('atMaxBytes', options.atMaxBytes, variable('AT_MAX_BYTES'), 'deleteOldest');
  const atMaxBytes = oneOf(end.field, end.value, ['deleteOldest', 'stop']);
  const { maxBytes: most, rotateBytes: each } = options;
  const whole = numberSetting('maxBytes', most, variable('MAX_BYTES'), undefined);
  const piece = numberSetting('rotateBytes', each, variable('ROTATE_BYTES'), undefined);
  const largest = Number.MAX_SAFE_INTEGER;
  const maxBytes =
    whole.value === undefined
      ? 0
      : sizeIn(whole.field, whole.value, { rings: 4, ringBytes, most: largest });
  if (piece.value === undefined) {
    const eighth = Math.max(Math.floor(maxBytes / 8), 2 * ringBytes);
    return { maxBytes, rotateBytes: atMaxBytes === 'stop' ? 0 : maxBytes && eighth, atMaxBytes };
  }
  const longest = maxBytes === 0 ? largest : Math.floor(maxBytes / 2);
  return {
    maxBytes,
    rotateBytes: sizeIn(piece.field, piece.value, { rings: 2, ringBytes, most: longest }),
    atMaxBytes,
  };
}
