/** What an error says, whatever it is and whatever its getters do. */
interface ExceptionAttributes {
  readonly 'exception.type'?: string;
  readonly 'exception.message'?: string;
  readonly 'exception.stacktrace'?: string;
  readonly [name: string]: string | undefined;
}

function textOf(error: object, name: string): string | undefined {
  try {
    const value = (error as Record<string, unknown>)[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The attributes of an event `exception`, by OpenTelemetry's conventions. */
export function exceptionAttributes(error: unknown): ExceptionAttributes {
  if (error === undefined) return {};
  if (typeof error === 'string') return { 'exception.message': error };
  if (typeof error !== 'object' || error === null) {
    const thrown = error as number;
    return { 'exception.message': typeof error === 'function' ? 'a function' : String(thrown) };
  }
  const found: Record<string, string> = {};
  const put = (name: string, text: string | undefined): void => {
    if (text !== undefined) found[name] = text;
  };
  put('exception.type', textOf(error, 'name'));
  put('exception.message', textOf(error, 'message'));
  put('exception.stacktrace', textOf(error, 'stack'));
  return found;
}

/**
 * Codes as Node and libraries have them: `ECONNREFUSED`, `ERR_STREAM_DESTROYED`. Another text may be a value.
 * `closed` is what this package says of a connection.
 */
const CODE = /^(?:[A-Z][A-Z\d_]{1,63}|closed)$/;
const CLASS = /^[A-Za-z_$][\w$]{0,63}$/;
/** Names of errors that are all of one class. */
const DOM_NAMES: ReadonlySet<string> = new Set(
  (
    'AbortError TimeoutError NetworkError DataCloneError InvalidStateError SyntaxError NotSupportedError ' +
    'OperationError QuotaExceededError InvalidAccessError NotAllowedError SecurityError EncodingError ' +
    'NotReadableError UnknownError DataError NotFoundError InvalidCharacterError'
  ).split(' '),
);

function classOf(error: object): string | undefined {
  const { name } = error as { name?: unknown };
  if (typeof DOMException === 'function' && error instanceof DOMException) {
    return typeof name === 'string' && DOM_NAMES.has(name) ? name : 'DOMException';
  }
  const made: unknown = (Object.getPrototypeOf(error) as object | null)?.constructor;
  const ofClass: unknown = typeof made === 'function' && made !== Object ? made.name : undefined;
  return typeof ofClass === 'string' && CLASS.test(ofClass) ? ofClass : undefined;
}

/**
 * What the conventions call the type of an error: its code, else the name of its class. Not its `name`: a program
 * can set that to any value.
 *
 * @returns undefined if it has neither.
 */
export function errorTypeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  try {
    const { code } = error as { code?: unknown };
    return typeof code === 'string' && CODE.test(code) ? code : classOf(error);
  } catch {
    // A getter of the program has thrown.
    return undefined;
  }
}
