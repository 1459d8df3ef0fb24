import { isArray } from '../core/taken-elements.js';

/**
 * A value of an attribute. Other objects become JSON; what cannot be recorded is counted in the span's
 * `dropped.attributes`.
 */
export type SpanValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | Date
  | readonly (string | number | bigint | boolean | null | undefined)[]
  | ArrayBufferView
  | object;

/**
 * Whether a value has names and values, as opposed to the elements of a list: a copy of those by name would take the
 * memory of many objects.
 */
export function hasNames(value: unknown): value is SpanAttributes {
  return (
    typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) && !isArray(value)
  );
}

/** Names and values. */
export type SpanAttributes = Readonly<Record<string, SpanValue>>;

/** An assignment to `__proto__` would set the prototype. */
export function define(to: Record<string, SpanValue>, name: string, value: SpanValue): void {
  if (name === '__proto__') {
    Object.defineProperty(to, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  } else {
    to[name] = value;
  }
}
