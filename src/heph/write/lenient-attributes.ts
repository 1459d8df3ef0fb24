import { MAX_U16 } from '../layout.js';
import { resolveValue } from './value.js';
import type { ResolvedValue } from './value.js';

/** What has become of values that an attribute cannot have. */
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
