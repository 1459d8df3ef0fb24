/** The kind of an error: a word that a program can compare. */
export type ErrorCode =
  | 'ERR_ARGUMENT_TYPE'
  | 'ERR_ARGUMENT_RANGE'
  | 'ERR_ORDER'
  | 'ERR_TRACE_EXISTS'
  | 'ERR_TRACE_FORMAT'
  | 'ERR_SYSTEM'
  | 'ERR_TIMEOUT'
  | 'ERR_CLOSED'
  | 'ERR_DEPENDENCY';

interface ErrorDetails {
  field?: string | undefined;
  value?: unknown;
  limit?: string | undefined;
  cause?: unknown;
}

/**
 * The one class of errors that Tracewright throws. The message is a sentence for a person; the
 * fields say the same to a program.
 */
export class TracewrightError extends Error {
  override readonly name: string = 'TracewrightError';
  readonly code: ErrorCode;
  /** The argument, option or field that is wrong, in the terms of the call. */
  declare readonly field: string | undefined;
  /** The value that was given. */
  declare readonly value: unknown;
  /** The accepted values, in words: `'an integer from 0 to 99'`. */
  declare readonly limit: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    // An error that is printed shows what there is: nothing undefined.
    for (const name of ['field', 'value', 'limit'] as const) {
      if (details[name] === undefined && !(name === 'value' && name in details)) continue;
      Object.assign(this, { [name]: details[name] });
    }
  }
}

/** A file that is not what its format asks for: thrown by readers, with the prefix of the fault. */
export class TraceFormatError extends TracewrightError {
  override readonly name = 'TraceFormatError';
  /** The file that holds the fault. */
  readonly path: string;
  /** Bytes from the start of the file to the record that is wrong. */
  readonly offset: number;

  constructor(path: string, offset: number, message: string, details: ErrorDetails = {}) {
    super('ERR_TRACE_FORMAT', `${path}, byte ${offset}: ${message}`, details);
    this.path = path;
    this.offset = offset;
  }

  /** The fault, without the path and the offset before it. */
  get fault(): string {
    const prefix = `${this.path}, byte ${this.offset}: `;
    return this.message.startsWith(prefix) ? this.message.slice(prefix.length) : this.message;
  }
}

/** Marks the errors of all copies of this package. */
const KIND = Symbol.for('tracewright.error');

/**
 * Makes `instanceof` accept the errors of other copies of this package.
 *
 * @param kind of the class.
 * @param kinds those of the class and of what extends it here.
 */
function acceptFromCopies(type: { prototype: object }, kind: string, kinds: unknown[]): void {
  Object.defineProperty(type.prototype, KIND, { value: kind });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: { prototype: object }, value: unknown): boolean {
      if (typeof value !== 'object' || value === null) return false;
      try {
        if (Object.prototype.isPrototypeOf.call(this.prototype, value)) return true;
        return this === type && KIND in value && kinds.includes(value[KIND]);
      } catch {
        // A proxy that does not let itself be looked at.
        return false;
      }
    },
  });
}

acceptFromCopies(TracewrightError, 'any', ['any', 'format']);
acceptFromCopies(TraceFormatError, 'format', ['format']);

/** A value in words. Of an object as far as it lets itself be looked at. */
function shown(value: unknown): string {
  try {
    return describe(value);
  } catch {
    return 'an object';
  }
}

function describe(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  }
  if (typeof value === 'bigint') return `${String(value)}n`;
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return `an array of length ${value.length}`;
  if (typeof value === 'object' && value !== null) {
    const name = (value.constructor as { name?: unknown } | undefined)?.name;
    const known = typeof name === 'string' && name !== '' && name !== 'Object';
    return known ? `an object of class ${name}` : 'an object';
  }
  return String(value);
}

/** The error for an argument of the wrong type: `payload must be a Uint8Array, got "abc"`. */
export function wrongType(field: string, value: unknown, limit: string): TracewrightError {
  return new TracewrightError(
    'ERR_ARGUMENT_TYPE',
    `${field} must be ${limit}, got ${shown(value)}`,
    { field, value, limit },
  );
}

/** The error for a value of the right type that lies outside its range. */
export function outOfRange(field: string, value: unknown, limit: string): TracewrightError {
  return new TracewrightError(
    'ERR_ARGUMENT_RANGE',
    `${field} must be ${limit}, got ${shown(value)}`,
    { field, value, limit },
  );
}

/** The error for a call that comes too early, too late or twice. */
export function wrongOrder(call: string, message: string): TracewrightError {
  return new TracewrightError('ERR_ORDER', `${call}: ${message}`, { field: call });
}
