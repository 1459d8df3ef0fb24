import { hasNames } from '../spans/attributes.js';
import type { SpanAttributes, SpanValue } from '../spans/attributes.js';
import { takeElements } from '../core/taken-elements.js';
import { snapshot } from '../spans/span.js';
import { countWrongArgument } from './wrong-arguments.js';

/** Elements that an attribute of the format can have. */
const MOST_ELEMENTS = 0xffff;

/** Attributes as a program has given them. What is no object counts as wrong. */
export function givenAttributes(given: unknown): SpanAttributes | undefined {
  if (given === undefined || given === null) return undefined;
  try {
    if (hasNames(given)) return '' in given ? named(given) : given;
  } catch {
    // A proxy that was revoked.
  }
  countWrongArgument();
  return undefined;
}

/** Names are not empty, says OpenTelemetry's specification. */
function named(given: SpanAttributes): SpanAttributes {
  const own = snapshot(given);
  delete own[''];
  countWrongArgument();
  return own;
}

/** Attributes that a program has given, as an object of the span's own. What is no object counts as wrong. */
export function attributesOf(given: unknown): Record<string, SpanValue> | undefined {
  const attributes = givenAttributes(given);
  return attributes === undefined ? undefined : snapshot(attributes);
}

/** Whether a value can be recorded. */
export function isValue(value: unknown): value is SpanValue {
  return typeof value !== 'function' && typeof value !== 'symbol';
}

/** A value as it is now: the program may change its array afterwards. */
export function valueOf(value: SpanValue): SpanValue {
  if (!Array.isArray(value)) return value;
  // A proxy may state any length. What is too long is dropped, and counted, where it is written.
  const length: unknown = value.length;
  return Number(length) > MOST_ELEMENTS
    ? value
    : takeElements('value', value, MOST_ELEMENTS, 'an array');
}
