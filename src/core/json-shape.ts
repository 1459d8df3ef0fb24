/** Whether a value from JSON, which anybody may have written, is what it should be. */
export type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === 'string';
export const isBoolean: Check = (value) => typeof value === 'boolean';
export const isNumber: Check = (value) => Number.isFinite(value);
export const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;

export function oneOf(...texts: string[]): Check {
  return (value) => texts.includes(value as string);
}

/** @param length of the list; undefined: any. */
export function listOf(check: Check, length?: number): Check {
  return (value) =>
    Array.isArray(value) && (length ?? value.length) === value.length && value.every(check);
}

/** What may be absent. */
export function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

export function objectOf<T>(
  fields: Record<keyof T & string, Check>,
): (value: unknown) => value is T {
  const checks = Object.entries<Check>(fields);
  return (value): value is T =>
    typeof value === 'object' &&
    value !== null &&
    checks.every(([name, check]) => check((value as Record<string, unknown>)[name]));
}
