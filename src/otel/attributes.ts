import { isArray, takeElements } from '../core/taken-elements.js';
import { hasNames } from '../spans/attributes.js';
import type { SpanAttributes, SpanValue } from '../spans/attributes.js';
import type { Policy } from '../spans/policy.js';
import { snapshot } from '../spans/span.js';
import { jsonOf } from '../spans/write/json-value.js';
import { countWrongArgument } from './wrong-arguments.js';

/** Elements of an attribute, in all its arrays: the format has no more. */
const MOST_ELEMENTS = 0xffff;
/** The format has deeper arrays as text. */
const MOST_DEPTH = 8;

/** Copies a value with its texts within a limit. */
class Cut {
  readonly #most: number;
  #elements = MOST_ELEMENTS;

  /** @param most characters of a text. */
  constructor(most: number) {
    this.#most = most;
  }

  /** @throws what says that there is no such value in the format. */
  value(value: SpanValue, depth: number): SpanValue {
    if (typeof value === 'string') {
      return value.length > this.#most ? value.slice(0, this.#most) : value;
    }
    if (!isArray(value)) return value;
    if (depth === MOST_DEPTH) return jsonOf(value);
    // A proxy may state any length, and an array may contain itself.
    const elements = takeElements('value', value, this.#elements, 'an array');
    this.#elements -= elements.length;
    return elements.map((each) => this.value(each as SpanValue, depth + 1));
  }
}

function cut(value: SpanValue, most: number): SpanValue {
  try {
    return new Cut(most).value(value, 0);
  } catch {
    return undefined;
  }
}

/** Attributes as they are written: redacted, and within the limits. */
export function writtenAttributes(
  attributes: SpanAttributes | undefined,
  most: number,
  { limits: { valueLength }, redactor }: Policy,
): Record<string, SpanValue> {
  const kept: Record<string, SpanValue> = {};
  let count = 0;
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (count >= most) break;
    const own = redactor === undefined ? value : (redactor.value(name, value) as SpanValue);
    const within = own === undefined ? undefined : cut(own, valueLength);
    if (within === undefined) continue;
    kept[name] = within;
    count++;
  }
  return kept;
}

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
