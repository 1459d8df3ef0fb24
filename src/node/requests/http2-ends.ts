import type { ClientHttp2Stream } from 'node:http2';
import { failureOf, TIMEOUT } from './call-failures.js';
import { ABORTED } from './conventions.js';

/** How the program has ended a stream: GIVEN_UP, or `timeout` in a listener for that event. */
const ENDED_HERE = Symbol('tracewright.endedHere');
const GIVEN_UP = 'given up';

const NO_ERROR = 0;

type Ended = typeof GIVEN_UP | typeof TIMEOUT;

interface Stream extends ClientHttp2Stream {
  [ENDED_HERE]?: Ended;
}

/** Node closes the streams of a connection that is gone, too. */
function isConnected({ session }: Stream): boolean {
  try {
    return session === undefined || !session.socket.destroyed;
  } catch {
    // It has no socket any more.
    return false;
  }
}

type Method = (this: Stream, ...given: never[]) => unknown;
type Methods = Record<'close' | 'destroy' | '_onTimeout', Method>;

/** The class of client streams whose ends are noted. */
let watched: object | undefined;

/** A listener for `timeout` that gives the stream up does so at once. */
function noteEnd(stream: Stream, as: Ended): void {
  if (!stream.closed && stream[ENDED_HERE] === undefined) stream[ENDED_HERE] = as;
}

/** Has the streams of clients note who ends them: Node says the same of a stream that either side has cancelled. */
export function watchHttp2Ends(stream: ClientHttp2Stream): void {
  const prototype = Object.getPrototypeOf(stream) as Methods;
  if (prototype === watched) return;
  watched = prototype;
  let timedOut: Stream | undefined;
  const before = (name: keyof Methods, note: (ended: Stream) => void): void => {
    const original = prototype[name];
    const value = function (this: Stream, ...given: never[]): unknown {
      note(this);
      return original.apply(this, given);
    };
    Object.defineProperty(value, 'name', { value: name });
    Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
  };
  const note = (ended: Stream): void => {
    noteEnd(ended, ended === timedOut ? TIMEOUT : GIVEN_UP);
  };
  before('destroy', note);
  before('close', (ended) => {
    if (isConnected(ended)) note(ended);
  });
  before('_onTimeout', (ended) => {
    timedOut = ended;
    queueMicrotask(() => {
      timedOut = undefined;
    });
  });
}

/** Whether the program has ended a stream that is closed, or a signal of the program. */
export function isGivenUp(stream: ClientHttp2Stream): boolean {
  return (stream as Stream)[ENDED_HERE] !== undefined;
}

/** The `error.type` of a call whose stream is closed; undefined: it has not failed, or the program has given it up. */
export function failureOfStream(
  stream: ClientHttp2Stream,
  isAnswered: boolean,
): string | undefined {
  const ended = (stream as Stream)[ENDED_HERE];
  if (ended === TIMEOUT) return TIMEOUT;
  const { errored, rstCode } = stream;
  if (errored !== null) return failureOf(errored);
  if (ended === GIVEN_UP) return undefined;
  if (rstCode !== NO_ERROR) return 'ERR_HTTP2_STREAM_ERROR';
  return isAnswered ? undefined : ABORTED;
}
