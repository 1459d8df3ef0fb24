import type { ActiveContext } from '../../spans/context/active-context.js';
import { spans } from '../../spans/shared-spans.js';
import type { Span, WaitingCall } from '../../spans/span.js';
import { ConnectionContext } from './connection-context.js';
import { subscriptionsOf, watchSubscribers } from './published-calls.js';
import type {
  AnyFunction,
  CallChannel,
  CallChannels,
  DirectCalls,
  MethodMessage,
  PublishedMessage,
} from './published-calls.js';

export const RUNNING = Symbol('tracewright.operation');

/** The message of a call: a library publishes the same object with each of its events. */
export interface CallMessage extends PublishedMessage {
  [RUNNING]?: RunningCall | undefined;
}

/** How a call is when the library's function has returned: not over, or over. */
export type Outcome = typeof PENDING | typeof SUCCEEDED | typeof FAILED;

export const PENDING = 0;
export const SUCCEEDED = 1;
export const FAILED = 2;

const NOT_ENTERED = Symbol('tracewright.notEntered');

/** A call that is recorded, on its way. */
export class RunningCall implements WaitingCall {
  /** Undefined: it is not recorded, or over. */
  span: Span | undefined;
  /** The context in which the program called. */
  readonly caller: ActiveContext | undefined;
  /** The context before the span was entered by hand; NOT_ENTERED: it was not. */
  before: unknown = NOT_ENTERED;
  /** Whether it is published after it has begun. */
  isHandedOver = false;
  /** When it began, in ms: of what has no span. A number here would be an object more for each that has. */
  since: number | undefined = undefined;
  /** Whether its span begins only when the program has to wait. */
  isLate = false;
  earlier: WaitingCall | undefined = undefined;

  constructor(span: Span | undefined, caller: ActiveContext | undefined) {
    this.span = span;
    this.caller = caller;
  }

  /** Makes its span active until `leave`. */
  enter(): void {
    if (this.span !== undefined) this.before = spans.swapContext(this.span);
  }

  /** Has nothing active until `leave`. */
  enterNothing(): void {
    if (this.caller === undefined) return;
    this.before = spans.swapContext(new ConnectionContext(this.span));
  }

  get isEntered(): boolean {
    return this.before !== NOT_ENTERED;
  }

  /** It goes on after it has returned, at most until its request is answered or aborted. */
  wait(): void {
    const root = this.span?.root;
    if (root === undefined || root === this.span) return;
    let { waiting } = root;
    while (waiting !== undefined && waiting.span === undefined) waiting = waiting.earlier;
    this.earlier = waiting;
    root.waiting = this;
  }

  leave(): void {
    const { before } = this;
    if (before === NOT_ENTERED) return;
    this.before = NOT_ENTERED;
    spans.leaveContext(before);
  }
}

/** Records the calls of one tracing channel, with its subscribers or without them. */
export interface CallRecorder {
  /** Whether a callback of the program gets back what was active where it called. */
  readonly callsBack: boolean;
  /** Whether the result of a call is of use. */
  readonly readsResult: boolean;
  /** Whether no call that begins now is recorded, whatever its message says. */
  readonly isSilent: boolean;
  /** Begins a call; undefined: it is not recorded. */
  begin(message: CallMessage): RunningCall | undefined;
  /** The library's function has returned. */
  returned(message: CallMessage, call: RunningCall, outcome: Outcome): void;
  /** The call is over. */
  ended(message: CallMessage, call: RunningCall, hasFailed: boolean): void;
  /** Something is acquired from now on by what is active. */
  acquired(result: unknown): void;
  /** The subscribers get a call that has begun already. */
  handOver(message: CallMessage, call: RunningCall): void;
}

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { then } = Promise.prototype;

/** A call of a function of a library that has not returned. */
interface StartedCall {
  readonly recorder: CallRecorder;
  readonly message: CallMessage;
  readonly call: RunningCall;
}

/** The call that a callback of the library can end; undefined: there is none, or it does. */
let started: StartedCall | undefined;

// Closures are made by functions of their own here: a function that has one allocates for it in each call.

/** The callback of a call that is recorded. */
function recordedCallback(
  recorder: CallRecorder,
  message: CallMessage,
  call: RunningCall,
  callback: AnyFunction,
): AnyFunction {
  return function (this: unknown, ...outcome: unknown[]): unknown {
    // By index: V8 makes no list of them then.
    const error = outcome[0];
    const hasFailed = Boolean(error);
    if (hasFailed) message.error = error;
    else if (recorder.readsResult) message.result = outcome[1];
    if (!recorder.callsBack) {
      try {
        return callback.apply(this, outcome);
      } finally {
        recorder.ended(message, call, hasFailed);
      }
    }
    const before = spans.swapContext(call.caller);
    try {
      return callback.apply(this, outcome);
    } finally {
      recorder.ended(message, call, hasFailed);
      spans.leaveContext(before);
    }
  };
}

/** Has a callback of the library's own end the call of it that is running; returns the callback. */
function endsCall(of: CallRecorder, callback: AnyFunction): AnyFunction {
  if (started?.recorder !== of) return callback;
  const { recorder, message, call } = started;
  started = undefined;
  return recordedCallback(recorder, message, call, callback);
}

/** Calls a function, and records that its callback, of which `position` is the number, ends the call. */
export function recordCallback(
  recorder: CallRecorder,
  message: CallMessage,
  original: AnyFunction,
  self: unknown,
  args: unknown[],
  position: number,
): unknown {
  const call = recorder.begin(message);
  if (call === undefined) return original.apply(self, args);
  args[position] = recordedCallback(recorder, message, call, args[position] as AnyFunction);
  let outcome: Outcome = PENDING;
  try {
    return original.apply(self, args);
  } catch (error) {
    message.error = error;
    outcome = FAILED;
    throw error;
  } finally {
    recorder.returned(message, call, outcome);
  }
}

/** Publishes on the channels how what a function has returned settles; returns what the program is to get. */
export type PublishResult = (channels: object, message: CallMessage, result: unknown) => unknown;

/** A promise of its own: a rejection that the program does not handle is found as before. */
function recordedPromise(
  recorder: CallRecorder,
  message: CallMessage,
  call: RunningCall,
  promise: Promise<unknown>,
): unknown {
  return then.call(
    promise,
    (value: unknown): unknown => {
      if (recorder.readsResult) message.result = value;
      recorder.ended(message, call, false);
      return value;
    },
    (error: unknown) => {
      message.error = error;
      recorder.ended(message, call, true);
      throw error;
    },
  );
}

function watchThenable(
  recorder: CallRecorder,
  message: CallMessage,
  call: RunningCall,
  thenable: PromiseLike<unknown>,
): void {
  thenable.then(
    (value: unknown) => {
      message.result = value;
      recorder.ended(message, call, false);
    },
    (error: unknown) => {
      message.error = error;
      recorder.ended(message, call, true);
    },
  );
}

/** Whether nothing is to be done when a call is over that calls nothing back: below a span that is not sampled. */
function hasNoEnd(recorder: CallRecorder, call: RunningCall): boolean {
  const { span, since } = call;
  return span === undefined && since === undefined && !recorder.readsResult && !call.isEntered;
}

/**
 * Calls a function that returns a promise, and records that this ends the call.
 *
 * @param publish gets what is no promise of the language's own class. Default: it is waited for if it has a `then`.
 */
export function recordPromise(
  recorder: CallRecorder,
  message: CallMessage,
  original: AnyFunction,
  self: unknown,
  args: unknown[],
  channels?: object,
  publish?: PublishResult,
): unknown {
  const call = recorder.begin(message);
  if (call === undefined || hasNoEnd(recorder, call)) return original.apply(self, args);
  const outer = started;
  const own = recorder.callsBack ? { recorder, message, call } : undefined;
  started = own;
  let hasEnd: boolean;
  let result: unknown;
  try {
    result = original.apply(self, args);
  } catch (error) {
    message.error = error;
    recorder.returned(message, call, FAILED);
    throw error;
  } finally {
    hasEnd = started !== own;
    started = outer;
  }
  if (hasEnd) {
    recorder.returned(message, call, PENDING);
    return result;
  }
  const isOwn = result instanceof Promise && result.constructor === Promise;
  if (!isOwn && publish !== undefined) {
    recorder.handOver(message, call);
    return publish(channels!, message, result);
  }
  if (isOwn) {
    recorder.returned(message, call, PENDING);
    return recordedPromise(recorder, message, call, result as Promise<unknown>);
  }
  const isAwaited = typeof (result as PromiseLike<unknown> | undefined)?.then === 'function';
  if (!isAwaited) message.result = result;
  recorder.returned(message, call, isAwaited ? PENDING : SUCCEEDED);
  if (isAwaited) watchThenable(recorder, message, call, result as PromiseLike<unknown>);
  return result;
}

/** Calls a function that is over when it returns. */
export function recordCall(
  recorder: CallRecorder,
  message: CallMessage,
  original: AnyFunction,
  self: unknown,
  args: unknown[],
): unknown {
  const call = recorder.begin(message);
  if (call === undefined) return original.apply(self, args);
  let outcome: Outcome = FAILED;
  try {
    const result = original.apply(self, args);
    message.result = result;
    outcome = SUCCEEDED;
    return result;
  } catch (error) {
    message.error = error;
    throw error;
  } finally {
    recorder.returned(message, call, outcome);
  }
}

/** Calls a function: a callback as its last argument, or a promise as its result, ends the call. */
function recordedCall(
  recorder: CallRecorder,
  original: AnyFunction,
  message: MethodMessage,
): unknown {
  const { self, arguments: args } = message;
  const last = args.length - 1;
  if (typeof args[last] === 'function') {
    return recordCallback(recorder, message, original, self, args, last);
  }
  return recordPromise(recorder, message, original, self, args);
}

/** The channels of a library, each of which has one subscriber at most as long as nobody else subscribes. */
export class DirectChannel implements DirectCalls {
  readonly recorder: CallRecorder;
  // Node 26 makes a look-up of each.
  readonly #start: CallChannel;
  readonly #end: CallChannel;
  readonly #asyncStart: CallChannel;
  readonly #asyncEnd: CallChannel;
  readonly #error: CallChannel;
  readonly #hasAsyncStart: number;
  isAlone = false;

  constructor(channels: CallChannels, recorder: CallRecorder) {
    this.#start = channels.start;
    this.#end = channels.end;
    this.#asyncStart = channels.asyncStart;
    this.#asyncEnd = channels.asyncEnd;
    this.#error = channels.error;
    this.recorder = recorder;
    this.#hasAsyncStart = recorder.callsBack ? 1 : 0;
    const changed = (): void => {
      this.isAlone = this.#hasNoOther();
    };
    for (const each of [this.#start, this.#end, this.#asyncStart, this.#asyncEnd, this.#error]) {
      watchSubscribers(each, changed);
    }
    changed();
  }

  #hasNoOther(): boolean {
    // Node enters stores of these two alone.
    return (
      subscriptionsOf(this.#start) === 1 &&
      this.#end._subscribers?.length === 1 &&
      subscriptionsOf(this.#asyncStart) === this.#hasAsyncStart &&
      this.#asyncEnd._subscribers?.length === 1 &&
      this.#error._subscribers === undefined
    );
  }

  get isUnheard(): boolean {
    return this.recorder.isSilent && this.isAlone;
  }

  call(original: AnyFunction, message: MethodMessage): unknown {
    return recordedCall(this.recorder, original, message);
  }

  promise(original: AnyFunction, message: CallMessage): unknown {
    return recordPromise(this.recorder, message, original, undefined, []);
  }

  ends(callback: AnyFunction): AnyFunction {
    return endsCall(this.recorder, callback);
  }

  begin(message: CallMessage): RunningCall | undefined {
    const call = this.recorder.begin(message);
    if (call !== undefined) this.recorder.returned(message, call, PENDING);
    return call;
  }

  callback(message: CallMessage, call: RunningCall, callback: AnyFunction): AnyFunction {
    return recordedCallback(this.recorder, message, call, callback);
  }

  acquired(result: unknown): void {
    this.recorder.acquired(result);
  }

  end(message: CallMessage, call: RunningCall, hasFailed: boolean): void {
    this.recorder.ended(message, call, hasFailed);
  }
}
