import * as diagnostics from 'node:diagnostics_channel';
import { version } from '../../core/version.js';
import type { ActiveContext } from '../../spans/context/active-context.js';
import { TRACE_PARENT } from '../../spans/context/headers.js';
import type { RemoteParent } from '../../spans/context/remote-parent.js';
import { spans } from '../../spans/shared-spans.js';
import { KINDS } from '../../spans/layout.js';
import { SCHEMA_URL } from '../../spans/schema-url.js';
import { Scope } from '../../spans/scope.js';
import { REMOTE } from '../../spans/span.js';
import type { Span } from '../../spans/span.js';
import type { StartOptions } from '../../spans/start-span.js';
import type { Library, LibraryOptions, Operation } from '../library.js';
import { countParentless } from '../parentless-calls.js';
import { AnnouncedSpans } from './announced-spans.js';
import { failureOf, markFailed } from './failure.js';
import { LibraryGuard } from './library-guard.js';

const RUNNING = Symbol('tracewright.operation');
const TURN = Symbol('tracewright.turn');
const SAMPLED = 1;
const NS_PER_MS = 1e6;

type Context = ActiveContext | undefined;

/** An operation on its way. */
class Running {
  /** Undefined: it is not recorded, or over. */
  span: Span | undefined;
  /** What was active where the program called. */
  readonly caller: Context;
  /** Whether its span was made active by hand, and `caller` must be again. */
  isEntered = false;
  /** When it began, in ms: of what is counted, and has no span. */
  since = 0;

  constructor(span: Span | undefined, caller: Context) {
    this.span = span;
    this.caller = caller;
  }
}

/** What a library publishes: one object for all events of an operation. */
interface Message {
  [RUNNING]?: Running | undefined;
  result?: unknown;
  error?: unknown;
}

/** Where operations take turns: what is above them, and whose turn it is. */
interface Turn {
  above: Context;
  message: Message;
}

/** The message with which a library was loaded, and its channel. */
export interface FirstMessage {
  channel: string;
  message: unknown;
}

/** Makes spans of the operations of one channel. */
class OperationSpans {
  readonly #operation: Operation;
  readonly #options: LibraryOptions;
  readonly #guard: LibraryGuard;
  readonly #scope: Scope;
  readonly #kind: number;
  readonly #below: StartOptions;
  readonly #storage = spans.contextStorage();
  /** Whether the active span alone decides if one is recorded. */
  readonly #followsParent: boolean;
  readonly #carries: boolean;
  /** Whether it is no span without a parent, but counted. */
  readonly #countsAlone: boolean;

  constructor(
    operation: Operation,
    library: string,
    scope: Scope,
    options: LibraryOptions,
    guard: LibraryGuard,
  ) {
    this.#operation = operation;
    this.#scope = scope;
    this.#options = options;
    this.#guard = guard;
    this.#kind = KINDS.indexOf(operation.kind);
    this.#below = { kind: operation.kind };
    this.#followsParent =
      operation.callsBack !== true &&
      operation.received === undefined &&
      operation.turnsOn === undefined;
    this.#carries = operation.carry !== undefined || operation.sent !== undefined;
    this.#countsAlone = operation.countedAlone === true && !options.named.includes(library);
  }

  subscribe(): void {
    const { nests, callsBack, entersByHand } = this.#operation;
    const nameOf = (event: string): string => channelOf(this.#operation, event);
    // One function for each message, and nothing in it that most messages do not need.
    if (entersByHand === true) {
      diagnostics.subscribe(nameOf('start'), (message) => {
        this.beginByHand(message as Message);
      });
    } else if (nests === true) {
      diagnostics
        .channel(nameOf('start'))
        .bindStore(this.#storage, (message) => this.#enter(message as Message));
    } else {
      diagnostics.subscribe(nameOf('start'), (message) => {
        this.#begin(message as Message);
      });
    }
    diagnostics.subscribe(nameOf('end'), (message) => {
      try {
        const running = (message as Message)[RUNNING];
        if (running !== undefined) this.#returned(message as Message, running);
      } catch (error) {
        this.#guard.fail(error);
      }
    });
    if (callsBack === true) {
      diagnostics
        .channel(nameOf('asyncStart'))
        .bindStore(this.#storage, (message) => this.#goBack(message as Message));
    }
    diagnostics.subscribe(nameOf('asyncEnd'), (message) => {
      try {
        if ((message as Message)[RUNNING] === undefined) return;
        this.#finish(message as Message);
        // Some libraries keep the message for as long as they keep a connection.
        (message as Message)[RUNNING] = undefined;
      } catch (error) {
        this.#guard.fail(error);
      }
    });
  }

  /** Begins what is announced where no store is bound: before this was loaded, or by the library's way. */
  beginByHand(message: Message): void {
    const span = this.#begin(message);
    if (this.#operation.nests !== true || span === undefined) return;
    message[RUNNING]!.isEntered = true;
    spans.enterContext(span);
  }

  /** What is active while the operation runs. */
  #enter(message: Message): object | undefined {
    return this.#begin(message) ?? this.#storage.getStore();
  }

  /** What is active in the callback. */
  #goBack(message: Message): object | undefined {
    try {
      const running = message[RUNNING];
      if (running !== undefined) return running.caller;
    } catch (error) {
      this.#guard.fail(error);
    }
    return this.#storage.getStore();
  }

  #begin(message: Message): Span | undefined {
    if (!this.#guard.on) return undefined;
    try {
      return this.#beginSpan(message);
    } catch (error) {
      this.#guard.fail(error);
      return undefined;
    }
  }

  #beginSpan(message: Message): Span | undefined {
    const operation = this.#operation;
    operation.notice?.(message);
    const caller = spans.activeContext();
    if (this.#followsParent) {
      const parent = caller?.activeSpan;
      if (parent === undefined && this.#countsAlone) {
        const counted = new Running(undefined, caller);
        counted.since = performance.now();
        message[RUNNING] = counted;
        return undefined;
      }
      if (parent !== undefined && isLeftOut(parent)) {
        if (this.#carries) this.#send(parent, message);
        return undefined;
      }
    }
    const turns = operation.turnsOn?.(message) as { [TURN]?: Turn } | undefined;
    const above = turns === undefined ? caller : this.#takeTurn(turns, message, caller);
    const span = this.#start(message, above, above === caller);
    if (span === undefined && operation.callsBack !== true) return undefined;
    try {
      message[RUNNING] = new Running(span, caller);
    } catch (error) {
      // A frozen message: nothing would end the span.
      if (span !== undefined) spans.discard(span);
      throw error;
    }
    return span;
  }

  /** Ends the operation whose turn it was; returns what all of them are below. */
  #takeTurn(on: { [TURN]?: Turn }, message: Message, caller: Context): Context {
    const turn = on[TURN];
    if (turn === undefined) {
      on[TURN] = { above: caller, message };
      return caller;
    }
    this.#finish(turn.message);
    turn.message = message;
    return turn.above;
  }

  #start(message: Message, above: Context, isActive: boolean): Span | undefined {
    const operation = this.#operation;
    const parent = operation.received === undefined ? above?.activeSpan : undefined;
    if (parent === undefined) {
      if (operation.needsParent === true) return undefined;
    } else if (isLeftOut(parent)) {
      this.#send(parent, message);
      return undefined;
    }
    const description = operation.describe(message, this.#options);
    if (description === undefined) return undefined;
    const { name, attributes } = description;
    let options: StartOptions | undefined;
    if (operation.isDetached?.(message) === true) options = { ...this.#below, parent: null };
    else if (operation.received !== undefined) {
      options = { ...this.#below, parent: senderOf(operation.received(message)) };
    } else if (!isActive && parent !== undefined) options = { ...this.#below, parent };
    const span =
      options === undefined
        ? spans.startIn(spans.activeContext(), this.#scope, name, this.#kind, attributes)
        : spans.startScopedSpan(this.#scope, name, attributes, options);
    if (this.#carries) this.#send(span, message);
    return span;
  }

  /** Has a message carry the trace on, unless the program has done so itself. */
  #send(span: Span, message: Message): void {
    if (!this.#options.propagates || span.activeSpan === undefined) return;
    const operation = this.#operation;
    if (operation.carry !== undefined) {
      const carrier: Record<string, string> = {};
      spans.injectSpan(span, undefined, carrier);
      operation.carry(message, carrier);
      return;
    }
    const headers = operation.sent?.(message);
    if (headers !== undefined && !(TRACE_PARENT in headers)) {
      spans.injectSpan(span, undefined, headers);
    }
  }

  /** The call has returned. What it began may go on. */
  #returned(message: Message, running: Running): void {
    if (running.isEntered) {
      running.isEntered = false;
      spans.enterContext(running.caller);
    }
    const isDone =
      this.#operation.isDone === undefined
        ? 'result' in message || 'error' in message
        : this.#operation.isDone(message);
    if (!isDone) return;
    if (message.result instanceof Promise) this.#whenSettled(message, message.result);
    else this.#finish(message);
  }

  /** The promise of a function of the program that a library calls. */
  #whenSettled(message: Message, promise: Promise<unknown>): void {
    const { handlesPromises } = this.#operation;
    void then.call(
      promise,
      () => {
        this.#finish(message);
      },
      (error: unknown) => {
        message.error = error;
        this.#finish(message);
        // This has handled it. If nothing else does, the program is to find it unhandled.
        if (handlesPromises !== true) throw error;
      },
    );
  }

  #finish(message: Message): void {
    const running = message[RUNNING];
    if (running === undefined) return;
    if (running.since > 0) {
      countParentless((performance.now() - running.since) * NS_PER_MS);
      running.since = 0;
    }
    const { span } = running;
    running.span = undefined;
    if (span?.recording !== true) return;
    try {
      const { atLeastMs = 0 } = this.#operation;
      const error = 'error' in message ? (message.error ?? null) : this.#errorOf(message);
      if (error !== undefined) this.#fail(span, error);
      else if (atLeastMs > 0 && ageOf(span) < atLeastMs * NS_PER_MS) {
        spans.discard(span);
        return;
      }
      this.#operation.finish?.(span, message);
    } catch (error) {
      this.#guard.fail(error);
    }
    span.end();
  }

  #errorOf(message: Message): unknown {
    return this.#operation.errorOf?.(message) ?? undefined;
  }

  #fail(span: Span, error: unknown): void {
    const failure = (this.#operation.failure ?? failureOf)(error);
    markFailed(span, failure, error, this.#options);
  }
}

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { then } = Promise.prototype;

function senderOf(headers: object | undefined): RemoteParent | null {
  const sender = headers === undefined ? undefined : spans.extract(headers);
  return sender ?? null;
}

/** Whether nothing is recorded below a span. */
function isLeftOut({ flags, state }: Span): boolean {
  return (flags & SAMPLED) === 0 && state !== REMOTE;
}

function ageOf(span: Span): number {
  return span.output!.timeOf(undefined) - span.start;
}

function channelOf({ channel }: Operation, event: string): string {
  return `tracing:${channel}:${event}`;
}

/** Records what a library does from now on, and the operation whose message is the first. */
export function traceLibrary(
  { name, operations, announcements = [] }: Library,
  options: LibraryOptions,
  first: FirstMessage,
): void {
  const guard = new LibraryGuard(name);
  const scope = new Scope(`tracewright/${name}`, version, SCHEMA_URL);
  for (const operation of operations) {
    const observed = new OperationSpans(operation, name, scope, options, guard);
    observed.subscribe();
    if (first.channel === channelOf(operation, 'start')) {
      observed.beginByHand(first.message as Message);
    }
  }
  for (const announcement of announcements) {
    const observed = new AnnouncedSpans(announcement, scope, options, guard);
    observed.subscribe();
    if (first.channel === announcement.channel) observed.record(first.message as object);
  }
}
