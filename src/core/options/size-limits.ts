import { ownOptions } from './argument.js';
import { getNote, putNote } from '../process-notes.js';
import { bytes } from '../settings/kinds.js';
import { valueOf } from '../settings/value-of.js';

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
  const atMaxBytes = variables
    ? valueOf('AT_MAX_BYTES', options.atMaxBytes)
    : valueOf('AT_MAX_BYTES', options.atMaxBytes ?? 'deleteOldest');
  /** A size from a number of rings on; 0: none. */
  const size = (
    name: 'MAX_BYTES' | 'ROTATE_BYTES',
    option: number | undefined,
    rings: number,
    most: number,
  ): number => {
    if (option === undefined && !variables) return 0;
    const kind = bytes(rings * ringBytes, most, ` (at least ${rings} times ringBytes)`);
    return valueOf(name, option, kind) ?? 0;
  };
  const maxBytes = size('MAX_BYTES', options.maxBytes, 4, Number.MAX_SAFE_INTEGER);
  const longest = maxBytes === 0 ? Number.MAX_SAFE_INTEGER : Math.floor(maxBytes / 2);
  const eighth = Math.max(Math.floor(maxBytes / 8), 2 * ringBytes);
  const otherwise = atMaxBytes === 'stop' ? 0 : maxBytes && eighth;
  const rotateBytes = size('ROTATE_BYTES', options.rotateBytes, 2, longest) || otherwise;
  return { maxBytes, rotateBytes, atMaxBytes };
}
