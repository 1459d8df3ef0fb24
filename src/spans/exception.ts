/** Attributes of an error, whatever it is and whatever its getters do. */
export interface ExceptionAttributes {
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

const FOREIGN = /[\\/]node_modules[\\/]|node:/;

/** Whether the program's own code has made an error, and no package, Node or V8's own functions, which quote values. */
export function isOfProgram(error: object): boolean {
  const [innermost = ''] = stackLines(error);
  return FRAME.test(innermost) && !FOREIGN.test(innermost);
}

/** The lines of a stack after the message. */
function stackLines(error: unknown): string[] {
  const found = exceptionAttributes(error);
  const { 'exception.message': message = '', 'exception.stacktrace': stack = '' } = found;
  // It may have been changed since.
  const at = stack.indexOf(message);
  return stack
    .slice(at === -1 ? 0 : at + message.length)
    .split('\n')
    .slice(1);
}

const FRAME = /^\s+at .{1,1300}:\d+:\d+\)?$/;

/** Where an error was made, without its message, which may contain values. */
export function frameAttributes(error: unknown): ExceptionAttributes {
  const frames = stackLines(error)
    .filter((line) => FRAME.test(line))
    .join('\n');
  return frames === '' ? {} : { 'exception.stacktrace': frames };
}

/** Errors of Next.js that are a redirect, or a page for 401, 403 and 404. */
const NEXT_ANSWER = /^NEXT_(?:REDIRECT|HTTP_ERROR_FALLBACK|NOT_FOUND)\b/;
const FAILED = 500;
/** Fields of a `Redirect` and of an `HttpError` of SvelteKit. */
const SVELTE_FIELDS: ReadonlySet<string> = new Set(['status,location', 'status,body']);

/**
 * Whether a framework has it thrown to answer a request: a redirect, or a status below 500. Next.js throws errors with a
 * `digest`. SvelteKit and React Router throw objects that are no errors.
 */
export function isAnswer(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null) return false;
  try {
    const { digest, status, url, type, init } = thrown as Record<string, unknown>;
    if (thrown instanceof Error) return typeof digest === 'string' && NEXT_ANSWER.test(digest);
    if (type === 'DataWithResponseInit') {
      return isBelowFailed((init as { status?: unknown } | null | undefined)?.status ?? 200);
    }
    if (!isBelowFailed(status)) return false;
    // What `fetch` has received has a URL.
    if (url !== undefined)
      return url === '' && Object.prototype.toString.call(thrown) === '[object Response]';
    return SVELTE_FIELDS.has(Object.keys(thrown).join());
  } catch {
    // A getter of the program has thrown.
    return false;
  }
}

function isBelowFailed(status: unknown): boolean {
  return typeof status === 'number' && status < FAILED;
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
 * The `error.type` of an error: its code, else the name of its class. Not its `name`: a program
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
