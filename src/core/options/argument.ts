import { resolve } from 'node:path';
import { outOfRange, wrongType } from '../errors.js';

/**
 * An argument that must be an integer in a range, both ends included.
 *
 * @throws TracewrightError that names the field, the value and the range.
 */
export function integerIn(field: string, value: unknown, low: number, high: number): number {
  const limit = `an integer from ${low} to ${high}`;
  if (typeof value !== 'number') throw wrongType(field, value, limit);
  if (!Number.isInteger(value) || value < low || value > high) {
    throw outOfRange(field, value, limit);
  }
  return value;
}

interface Types {
  string: string;
  boolean: boolean;
  function: (...values: never) => unknown;
}

/** Checks the type of an argument: a primitive one, or a function. */
export function ofType<T extends keyof Types>(field: string, value: unknown, type: T): Types[T] {
  if (typeof value !== type) throw wrongType(field, value, `a ${type}`);
  return value as Types[T];
}

/**
 * A limit that a caller sets: a number, at least `low`; Infinity is none.
 *
 * @throws TracewrightError that names the field and what it may be.
 */
export function limitFrom(field: string, value: unknown, low: number): number {
  const limit = `a number, at least ${low}`;
  if (typeof value !== 'number') throw wrongType(field, value, limit);
  if (!(value >= low)) throw outOfRange(field, value, limit);
  return value;
}

/**
 * An argument that must be one of some words.
 *
 * @throws TracewrightError that names the field, the value and the words.
 */
export function oneOf<T extends string>(field: string, value: unknown, choices: readonly T[]): T {
  if (choices.includes(value as T)) return value as T;
  const limit = choices.map((choice) => `'${choice}'`).join(' or ');
  throw typeof value === 'string'
    ? outOfRange(field, value, limit)
    : wrongType(field, value, limit);
}

/** The names of an options type; the compiler sees to it that none is missing. */
export type OptionNames<Options> = Readonly<Record<keyof Options & string, true>>;

/** Does not fit a list in which a name of the options is missing. */
type Complete<Options, Name> = [keyof Options] extends [Name]
  ? unknown
  : { missing: Exclude<keyof Options, Name> };

/** Options of readers that are functions. */
const CALLBACKS = ['onProgress', 'isBeingWritten'];

/**
 * The options that a caller gave, each read once. Only own properties count: what
 * `Object.prototype` has by accident is no option. Without a prototype, the result shows no others.
 *
 * @param names the valid options; an unknown one is an error, for it would be ignored silently.
 * @param within the option whose own options these are.
 * @throws TracewrightError that names the option and lists the valid ones.
 */
export function ownOptions<Options extends object, Name extends keyof Options & string>(
  options: Options,
  names?: readonly Name[] & Complete<Options, Name>,
  within?: string,
): Options {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null) {
    throw wrongType(within ?? 'options', given, 'an object');
  }
  const own = Object.create(null) as Record<string, unknown>;
  for (const name of Object.keys(given)) {
    if (names !== undefined && !names.includes(name as Name)) {
      const field = within === undefined ? 'option' : `${within} option`;
      throw outOfRange(field, name, `one of ${[...names].sort().join(', ')}`);
    }
    own[name] = (given as Record<string, unknown>)[name];
  }
  for (const name of names === undefined ? [] : CALLBACKS) {
    if (own[name] !== undefined) ofType(name, own[name], 'function');
  }
  return own as Options;
}

/** Checks what must be the name of a file and makes it absolute. */
export function checkPath(field: string, path: unknown): string {
  if (typeof path !== 'string' || path === '') throw wrongType(field, path, 'a path');
  if (path.includes('\0')) throw outOfRange(field, path, 'a path without NUL');
  return resolve(path);
}
