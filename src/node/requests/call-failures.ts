import { errorTypeOf } from '../../spans/exception.js';
import { OTHER } from './conventions.js';

/** Of a call that the program gave up when nothing had come for the time that it had set. */
export const TIMEOUT = 'timeout';
/** Of a call whose proxy has refused to connect it. Node's own code. */
const REFUSED_BY_PROXY = 'ERR_PROXY_TUNNEL';

/** With these a call is given up: by a signal, by a client such as axios or got, or by what read its body. */
const GIVEN_UP: ReadonlySet<unknown> = new Set([
  'AbortError',
  'CancelError',
  'CanceledError',
  'ERR_CANCELED',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'UND_ERR_ABORTED',
  'UND_ERR_DESTROYED',
]);

interface CallError {
  name?: unknown;
  code?: unknown;
  message?: unknown;
  cause?: unknown;
}

/** Of an error of Connect: the program has given the call up. */
const CONNECT_CANCELLED = 1;

function isGivenUp({ name, code }: CallError): boolean {
  if (name === 'ConnectError') return code === CONNECT_CANCELLED;
  return GIVEN_UP.has(name) || GIVEN_UP.has(code);
}

/** Undici aborts a request whose proxy has refused it. */
function isRefusedByProxy({ message }: CallError): boolean {
  return typeof message === 'string' && message.startsWith('Proxy response (');
}

function failureOfAny(error: CallError): string | undefined {
  if (!isGivenUp(error)) return errorTypeOf(error) ?? OTHER;
  if (isRefusedByProxy(error)) return REFUSED_BY_PROXY;
  const { cause } = error;
  // What a signal was aborted with.
  return (cause as CallError | undefined)?.name === 'TimeoutError' ? errorTypeOf(cause) : undefined;
}

/** The `error.type` of a call that an error ended; undefined: the program has given it up. */
export function failureOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return OTHER;
  try {
    return failureOfAny(error);
  } catch {
    // A getter of the program has thrown.
    return OTHER;
  }
}

/**
 * As `failureOf`, where a client hands over what a program has aborted a call with, which may be anything. What fails by
 * itself has a code.
 */
export function failureOfReason(reason: unknown): string | undefined {
  if (typeof reason !== 'object' || reason === null) return undefined;
  try {
    const { name, code } = reason as CallError;
    const isKnown = name === 'TimeoutError' || typeof code === 'string' || isGivenUp(reason);
    if (!isKnown) return undefined;
  } catch {
    return undefined;
  }
  return failureOf(reason);
}
