import { wrongType } from '../../core/errors.js';
import { MAX_U16 } from '../layout.js';
import { textBound, valueBound } from './encoder.js';
import { checkText, MAX_U64, MIN_I64, resolveValue, SURELY_SHORT } from './value.js';
import type { Attributes, AttributeType, AttributeValue, ResolvedValue } from './value.js';

/** Values ready to be encoded, with their names. */
export interface TypedAttributes {
  readonly names: readonly string[];
  readonly types: readonly AttributeType[];
  readonly values: readonly AttributeValue[];
  /** Most bytes that the event takes. */
  readonly bound: number;
}

/** Attributes that are kept for the next event; with more, an event makes its own arrays. */
const KEPT = 64;

/** Names and values of an object, each read once: from then on no code of the caller runs. */
export class TakenAttributes {
  readonly names: string[] = [];
  readonly values: unknown[] = [];
  count = 0;
  /** Most bytes that the values and their types take in an event; only if they are usual. */
  valuesBound = 0;
  /** Whether all values are strings, short even together, numbers, booleans and bigints of 64 bits. */
  areUsual = true;
}

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { hasOwnProperty } = Object.prototype;

/** For the next event. None while an event uses it: reading a property can record another event. */
let spare: TakenAttributes | undefined = new TakenAttributes();

/** Whether a value that is no number and no string is a boolean or a bigint of 64 bits. */
export function isUsual(value: unknown): boolean {
  if (typeof value === 'bigint') return value >= MIN_I64 && value <= MAX_U64;
  return typeof value === 'boolean';
}

/** Most bytes that the names take in an event; infinite if one may be too long. */
export function boundOfNames({ names, count }: TakenAttributes): number {
  let bound = 2 * count;
  for (let i = 0; i < count; i++) {
    const { length } = names[i]!;
    if (length > SURELY_SHORT) return Infinity;
    bound += 3 * length;
  }
  return bound;
}

/**
 * Checks that attributes are an object of names and values.
 *
 * @throws TracewrightError for anything else. A Map has entries that are no properties: they would be
 *   missing in the trace.
 */
export function checkAttributes(attributes: Attributes | undefined): void {
  if (attributes === undefined) return;
  if (
    typeof attributes !== 'object' ||
    (attributes as unknown) === null ||
    Symbol.iterator in attributes
  ) {
    throw wrongType('attributes', attributes, 'an object of names and values');
  }
}

/**
 * Puts the names that `Object.entries` would list into `names`, in its order, and returns their
 * number. Reads no property.
 */
export function listNames(attributes: object | undefined, names: string[]): number {
  let count = 0;
  for (const name in attributes) {
    if (!hasOwnProperty.call(attributes, name)) continue;
    if (names[count] !== name) names[count] = name;
    count++;
  }
  return count;
}

/** Reads the properties that `Object.entries` would list, in its order, but for undefined ones. */
export function takeAttributes(attributes: Attributes | undefined): TakenAttributes {
  const taken = spare ?? new TakenAttributes();
  spare = undefined;
  const { names, values } = taken;
  let count = 0;
  for (const name in attributes) {
    if (!hasOwnProperty.call(attributes, name)) continue;
    const value: unknown = attributes[name];
    if (value === undefined) continue;
    names[count] = name;
    values[count] = value;
    count++;
  }
  taken.count = count;
  measure(taken);
  return taken;
}

/** The same of properties that have been read. */
export function takeValues(names: readonly string[], values: readonly unknown[]): TakenAttributes {
  const taken = new TakenAttributes();
  names.forEach((name, i) => {
    if (values[i] === undefined) return;
    taken.names.push(name);
    taken.values.push(values[i]);
  });
  taken.count = taken.names.length;
  measure(taken);
  return taken;
}

function measure(taken: TakenAttributes): void {
  const { values, count } = taken;
  let characters = 0;
  let areUsual = true;
  for (let i = 0; i < count; i++) {
    const value = values[i];
    if (typeof value === 'string') characters += value.length;
    else if (typeof value !== 'number') areUsual &&= isUsual(value);
  }
  // Of each value its type, and eight bytes or the length and at most three bytes a character.
  taken.valuesBound = 9 * count + 3 * characters;
  taken.areUsual = areUsual && characters <= SURELY_SHORT;
}

/** Ends the use of what `takeAttributes` returned. It keeps no value of the caller. */
export function releaseAttributes(taken: TakenAttributes): void {
  const { values, count } = taken;
  if (values.length > KEPT) return;
  for (let i = 0; i < count; i++) values[i] = undefined;
  spare = taken;
}

/**
 * Checks taken attributes and finds their types.
 *
 * @param lenient decides about values that are not valid; undefined: they are errors.
 */
export function resolveAttributes(
  { names, values, count }: TakenAttributes,
  lenient: LenientAttributes | undefined,
): TypedAttributes {
  const attributes = { names: [] as string[], types: [] as AttributeType[] };
  const resolvedValues: AttributeValue[] = [];
  let bound = 0;
  for (let i = 0; i < count; i++) {
    const name = names[i]!;
    checkText('attribute name', name);
    const resolved =
      lenient === undefined ? resolveValue(name, values[i]) : lenient.resolve(name, values[i]);
    if (resolved === undefined) continue;
    const { type, value } = resolved;
    attributes.names.push(name);
    attributes.types.push(type);
    resolvedValues.push(value);
    bound += textBound(name) + 1 + valueBound(type, value);
  }
  return { ...attributes, values: resolvedValues, bound };
}

/** Counts of values that an attribute cannot have, by what was done with them. */
export interface LenientCounts {
  /** Values that were recorded as text: dates, objects, wide integers and long strings. */
  texts: number;
  /** Values that were left out: `null`, functions, symbols, and what failed when it was read. */
  omitted: number;
}

/** The start of a text that takes at most so many bytes as UTF-8. */
function fitting(text: string): string {
  const bytes = Buffer.from(text.slice(0, MAX_U16));
  if (bytes.length <= MAX_U16) return text.slice(0, MAX_U16);
  let end = MAX_U16;
  // Not within a character.
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return undefined;
  const { types } = process.getBuiltinModule('node:util');
  if (types.isDate(value)) return Date.prototype.toISOString.call(value);
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'bigint' ? String(inner) : inner,
  );
}

/** Attributes of `attributes: 'lenient'`: what is not valid becomes text or is left out, and counts. */
export class LenientAttributes {
  readonly counts: LenientCounts = { texts: 0, omitted: 0 };

  /** A value as `resolveValue` has it; undefined: it is left out. Throws nothing. */
  resolve(field: string, value: unknown): ResolvedValue | undefined {
    const valid = unlessItFails(() => resolveValue(field, value));
    if (valid !== undefined) return valid;
    const text = unlessItFails(() => textOf(value));
    if (text === undefined) {
      this.counts.omitted++;
      return undefined;
    }
    this.counts.texts++;
    return { type: 'string', value: fitting(text) };
  }
}

/** Getters and proxies of the caller can throw anything. */
function unlessItFails<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
