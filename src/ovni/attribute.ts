import { outOfRange, wrongType } from '../core/errors.js';
import type { StreamWriter } from './stream-writer.js';

/** What an attribute may hold: whatever JSON can say. */
export type AttributeValue =
  string | number | boolean | null | AttributeValue[] | { [key: string]: AttributeValue };

/** Keys at the top of stream.json that say what the stream is. */
const RESERVED = new Set(['version', 'ovni']);

function segments(key: unknown): [first: string, ...rest: string[]] {
  const limit = "a path of names joined by dots, not below 'ovni' or 'version'";
  if (typeof key !== 'string') throw wrongType('key', key, limit);
  const names = key.split('.');
  if (names.some((name) => name === '' || name === '__proto__') || RESERVED.has(names[0]!)) {
    throw outOfRange('key', key, limit);
  }
  return names as [string, ...string[]];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON has no word for some values of JavaScript; they must not vanish silently. */
function checkValue(value: unknown): void {
  const limit = 'a string, finite number, boolean, null, or an array or plain object of these';
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw outOfRange('value', value, limit);
  } else if (Array.isArray(value)) {
    value.forEach(checkValue);
  } else if (isObject(value)) {
    Object.values(value).forEach(checkValue);
  } else if (value !== null && typeof value !== 'string' && typeof value !== 'boolean') {
    throw wrongType('value', value, limit);
  }
}

/** See attrSet in index.ts. */
export function setAttribute(stream: StreamWriter, key: string, value: AttributeValue): void {
  const names = segments(key);
  checkValue(value);
  const last = names.pop()!;
  let at = stream.attributes;
  for (const name of names) {
    const next = Object.hasOwn(at, name) ? at[name] : (at[name] = {});
    if (!isObject(next)) {
      throw outOfRange('key', key, `a path through objects; ${JSON.stringify(name)} is a value`);
    }
    at = next;
  }
  at[last] = structuredClone(value);
  stream.metadataChanged();
}

/** See attrGet in index.ts. */
export function getAttribute(stream: StreamWriter, key: string): AttributeValue | undefined {
  let at: unknown = stream.attributes;
  for (const name of segments(key)) {
    if (!isObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return structuredClone(at) as AttributeValue;
}
