/** A message on a channel is not of the form that its library's file knows. */
export class UnknownPayload extends Error {
  constructor(what: string) {
    super(`its messages have no ${what}`);
  }
}

/** A text without which a message says nothing. */
export function requiredText(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new UnknownPayload(what);
  return value;
}

/** An object without which a message says nothing. */
export function requiredObject(value: unknown, what: string): object {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) {
    throw new UnknownPayload(what);
  }
  return value;
}

/** Whether a message, or what it has, may have properties. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** A text that is recorded if there is one; never an empty one. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A number that is recorded if there is one. */
export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
