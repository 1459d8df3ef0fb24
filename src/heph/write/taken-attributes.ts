import { wrongType } from '../../core/errors.js';
import { textBound, valueBound } from './encoder.js';
import type { Attributes } from './stream.js';
import { checkText, MAX_U64, MIN_I64, resolveValue, SURELY_SHORT } from './value.js';
import type { AttributeType, AttributeValue } from './value.js';

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
  /** Most bytes that they take in an event; only if they are usual. */
  bound = 0;
  /** Whether all values are strings, numbers, booleans and bigints that an event can contain. */
  areUsual = true;
}

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { hasOwnProperty } = Object.prototype;

/** For the next event. None while an event uses it: reading a property can record another event. */
let spare: TakenAttributes | undefined = new TakenAttributes();

function isUsual(value: unknown): boolean {
  switch (typeof value) {
    case 'number':
    case 'boolean':
      return true;
    case 'string':
      return value.length <= SURELY_SHORT;
    case 'bigint':
      return value >= MIN_I64 && value <= MAX_U64;
    default:
      return false;
  }
}

/** Reads the properties that `Object.entries` would list, in its order. */
export function takeAttributes(attributes: Attributes | undefined): TakenAttributes {
  const taken = spare ?? new TakenAttributes();
  spare = undefined;
  taken.count = 0;
  taken.bound = 0;
  taken.areUsual = true;
  if (attributes === undefined) return taken;
  // A Map has entries that are no properties: they would be missing in the trace.
  if (
    typeof attributes !== 'object' ||
    (attributes as unknown) === null ||
    Symbol.iterator in attributes
  ) {
    spare = taken;
    throw wrongType('attributes', attributes, 'an object of names and values');
  }
  const { names, values } = taken;
  let count = 0;
  let bound = 0;
  let areUsual = true;
  for (const name in attributes) {
    if (!hasOwnProperty.call(attributes, name)) continue;
    const value: unknown = attributes[name];
    if (value === undefined) continue;
    names[count] = name;
    values[count] = value;
    count++;
    bound += 11 + 3 * name.length;
    if (typeof value === 'string') bound += 3 * value.length - 6;
    areUsual &&= name.length <= SURELY_SHORT && isUsual(value);
  }
  taken.count = count;
  taken.bound = bound;
  taken.areUsual = areUsual;
  return taken;
}

/** Ends the use of what `takeAttributes` returned. It keeps no value of the caller. */
export function releaseAttributes(taken: TakenAttributes): void {
  const { values, count } = taken;
  if (values.length > KEPT) return;
  for (let i = 0; i < count; i++) values[i] = undefined;
  spare = taken;
}

/** Checks taken attributes and finds their types. */
export function resolveAttributes({ names, values, count }: TakenAttributes): TypedAttributes {
  const resolved = values.slice(0, count).map((value, i) => {
    checkText('attribute name', names[i]);
    return resolveValue(names[i]!, value);
  });
  return {
    names: names.slice(0, count),
    types: resolved.map(({ type }) => type),
    values: resolved.map(({ value }) => value),
    bound: resolved.reduce(
      (sum, { type, value }, i) => sum + textBound(names[i]!) + 1 + valueBound(type, value),
      0,
    ),
  };
}
