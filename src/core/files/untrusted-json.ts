import { TraceFormatError } from '../errors.js';
import { readRegularFile } from './regular-file.js';

/** Largest file of metadata that is read, in bytes. */
const MAX_JSON_BYTES = 64 << 20;
/** Deepest nesting. Each level costs the parser dozens of bytes for one in the file. */
const MAX_JSON_DEPTH = 256;
/** Most values: each takes dozens of bytes and some time, and may have two bytes in the file. */
const MAX_JSON_VALUES = 1 << 22;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** @throws TraceFormatError where the nesting becomes too deep, or the values too many. */
function checkShape(path: string, bytes: Uint8Array): void {
  let depth = 0;
  let values = 0;
  let quoted = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (quoted) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) {
      quoted = true;
    } else if (byte === 0x5b || byte === 0x7b) {
      values++;
      if (++depth > MAX_JSON_DEPTH) {
        const message = `the JSON is nested deeper than ${MAX_JSON_DEPTH} at byte ${at}`;
        throw new TraceFormatError(path, at, message);
      }
    } else if (byte === 0x5d || byte === 0x7d) {
      depth--;
    } else if (byte === COMMA && ++values > MAX_JSON_VALUES) {
      const message = `the JSON has more than ${MAX_JSON_VALUES} values at byte ${at}`;
      throw new TraceFormatError(path, at, message);
    }
  }
}

/**
 * Reads a file of JSON that another user may have written, in bounded memory and time. A symbolic
 * link is not followed.
 *
 * @throws TraceFormatError that says why it is none: not a regular file, larger than `MAX_JSON_BYTES`,
 *   nested too deeply, of too many values, or no JSON; the error of node:fs when it cannot be read.
 */
export function readBoundedJson(path: string): unknown {
  return parseBoundedJson(path, readRegularFile(path, MAX_JSON_BYTES));
}

/**
 * The same of bytes that a file contains.
 *
 * @throws TraceFormatError as above.
 */
export function parseBoundedJson(path: string, bytes: Buffer): unknown {
  checkShape(path, bytes);
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch (error) {
    throw new TraceFormatError(path, 0, `this is not JSON: ${(error as Error).message}`);
  }
}

/** Whether a value from JSON, which anybody may have written, is what it should be. */
export type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === 'string';
export const isBoolean: Check = (value) => typeof value === 'boolean';
export const isNumber: Check = (value) => Number.isFinite(value);
export const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;

export function oneOf(...texts: string[]): Check {
  return (value) => texts.includes(value as string);
}

/** @param length of the list; undefined: any. */
export function listOf(check: Check, length?: number): Check {
  return (value) =>
    Array.isArray(value) && (length ?? value.length) === value.length && value.every(check);
}

/** A check that an absent value passes, too. */
export function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

export function objectOf<T>(
  fields: Record<keyof T & string, Check>,
): (value: unknown) => value is T {
  const checks = Object.entries<Check>(fields);
  return (value): value is T =>
    typeof value === 'object' &&
    value !== null &&
    checks.every(([name, check]) => check((value as Record<string, unknown>)[name]));
}
