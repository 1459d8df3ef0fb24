/** Anything that JSON can express. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** A 64-bit integer as a number up to 2^53 - 1, and as a decimal string beyond. */
export function jsonInteger(value: bigint): number | string {
  return value > MAX_SAFE || value < -MAX_SAFE ? value.toString() : Number(value);
}

/** Whether only a float is the number: one with a fraction, beyond 2^53, or -0. */
export function isFloat(value: number): boolean {
  return !Number.isSafeInteger(value) || Object.is(value, -0);
}

/** A number with its sign: `-0` is not `0`. */
export function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/**
 * A value of a record without loss: as {@link jsonInteger}. NaN, infinities and -0 are strings. Bytes are a string of
 * base64.
 */
export function jsonValue(value: unknown): JsonValue {
  if (typeof value === 'bigint') return jsonInteger(value);
  if (typeof value === 'number') {
    return Number.isFinite(value) && !Object.is(value, -0) ? value : numberText(value);
  }
  if (Array.isArray(value)) return value.map(jsonValue);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, element]) => [name, jsonValue(element)]),
    );
  }
  return value as string | boolean | null;
}

/**
 * JSON text in which U+FFFD replaces each unpaired surrogate, as in UTF-8. JavaScript's own JSON
 * escapes them (`\\ud800`), which makes parsers of other languages reject the whole file.
 */
export function wellFormedJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(/\\\\|\\ud[89a-f][0-9a-f]{2}/g, (escape) =>
    escape === '\\\\' ? escape : '\ufffd',
  );
}

/**
 * Parses small JSON of our own. Its objects have no prototype: a missing field is undefined, whatever
 * a program has added to `Object.prototype`.
 */
export function parseOwnJson(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.assign(Object.create(null) as object, value)
      : value,
  );
}

/** A copy of what {@link parseOwnJson} has returned, with changes. It has no prototype either. */
export function withChanges<Own extends object>(own: Own, changes: Partial<Own>): Own {
  return Object.assign(Object.create(null) as Own, own, changes);
}
