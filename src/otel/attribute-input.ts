import { hasNames } from '../spans/attributes.js';
import type { SpanValue } from '../spans/attributes.js';
import { takeElements } from '../core/taken-elements.js';
import { snapshot } from '../spans/span.js';
import { countWrongArgument } from './wrong-arguments.js';

/** Elements that an attribute of the format can have. */
const MOST_ELEMENTS = 0xffff;

/** Attributes that a program has given, as an object of the span's own. What is no object counts as wrong. */
export function attributesOf(given: unknown): Record<string, SpanValue> | undefined {
  if (given === undefined || given === null) return undefined;
  try {
    if (hasNames(given)) {
      const own = snapshot(given);
      if ('' in own) dropUnnamed(own);
      return own;
    }
  } catch {
    // A proxy that was revoked.
  }
  countWrongArgument();
  return undefined;
}

/** Names are not empty, says OpenTelemetry's specification. */
function dropUnnamed(attributes: Record<string, SpanValue>): void {
  delete attributes[''];
  countWrongArgument();
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
