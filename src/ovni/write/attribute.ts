import { outOfRange, wrongType } from '../../core/errors.js';
import type { StreamWriter } from './stream-writer.js';

type Scalar = string | number | boolean | null;

/** The value of an attribute: any JSON value. */
export type AttributeValue = Scalar | AttributeValue[] | { [key: string]: AttributeValue };

/** The emulator's parser refuses 2,048. */
const MAX_DEPTH = 100;
/** Keys of stream.json that ovni uses itself. */
const RESERVED = new Set(['version', 'ovni']);

function segments(key: unknown): [first: string, ...rest: string[]] {
  const limit = "a path of names joined by dots, not below 'ovni' or 'version'";
  if (typeof key !== 'string') throw wrongType('key', key, limit);
  const names = key.split('.');
  if (
    names.length > MAX_DEPTH ||
    names.some((name) => name === '' || name === '__proto__' || name.includes('\0')) ||
    RESERVED.has(names[0]!)
  ) {
    throw outOfRange('key', key, limit);
  }
  return names as [string, ...string[]];
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A copy of `value`. Values that JSON would drop or change are errors; circles end at the depth limit.
 */
function checkedCopy(value: unknown, depth = MAX_DEPTH): unknown {
  const limit = `a string, finite number, boolean, null, or an array or plain object of these, at most ${MAX_DEPTH} deep`;
  if (depth === 0) throw outOfRange('value', value, limit);
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw outOfRange('value', value, limit);
      return value;
    case 'object':
      if (value === null) return null;
      if (Array.isArray(value)) {
        return Array.from(value, (each: unknown) => checkedCopy(each, depth - 1));
      }
      if (isPlain(value)) {
        return Object.fromEntries(
          Object.entries(value).map(([key, each]) => {
            if (key.includes('\0')) throw outOfRange('key', key, 'without NUL');
            return [key, checkedCopy(each, depth - 1)];
          }),
        );
      }
  }
  throw wrongType('value', value, limit);
}

/** See attrSet in index.ts. */
export function setAttribute(stream: StreamWriter, key: string, value: AttributeValue): void {
  const names = segments(key);
  const copy = checkedCopy(value);
  const [topmost] = names;
  const last = names.pop()!;
  let at = stream.metadata.attributes;
  for (const name of names) {
    const next = Object.hasOwn(at, name) ? at[name] : (at[name] = {});
    if (!isObject(next)) {
      throw outOfRange('key', key, `a path through objects; ${JSON.stringify(name)} is a value`);
    }
    at = next;
  }
  at[last] = copy;
  stream.metadata.attributed(topmost);
}

/** See attrGet in index.ts. */
export function getAttribute(stream: StreamWriter, key: string): AttributeValue | undefined {
  let at: unknown = stream.metadata.attributes;
  for (const name of segments(key)) {
    if (!isObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return structuredClone(at) as AttributeValue;
}
