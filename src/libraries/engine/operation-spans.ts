import * as diagnostics from 'node:diagnostics_channel';
import { TRACE_PARENT } from '../../spans/context/headers.js';
import type { RemoteParent } from '../../spans/context/remote-parent.js';
import { spans } from '../../spans/shared-spans.js';
import { KINDS } from '../../spans/layout.js';
import type { Scope } from '../../spans/scope.js';
import { REMOTE } from '../../spans/span.js';
import type { Span } from '../../spans/span.js';
import type { StartOptions } from '../../spans/start-span.js';
import type { LibraryOptions, Operation } from '../library.js';
import { countParentless } from '../parentless-calls.js';
import { linkHolder, noteHolder } from './connection-holders.js';
import { recordDirectly } from './direct-calls.js';
import type { CallRecorder } from './direct-calls.js';
import { beginEarlier } from './earlier-start.js';
import { failureOf, markFailed } from './failure.js';
import type { LibraryGuard } from './library-guard.js';
import { Running, RUNNING, TURN } from './running-operation.js';
import type { Context, Message, Turn } from './running-operation.js';

const SAMPLED = 1;
const NS_PER_MS = 1e6;

/** Makes spans of the operations of one channel. */
export class OperationSpans implements CallRecorder {
  readonly callsBack: boolean;
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
  /** Whether its span begins only when the program has to wait: most of these are over at once. */
  readonly #beginsLate: boolean;
  readonly #whenWaiting = (message: Message, running: Running): void => {
    if (!running.isLate) return;
    try {
      this.#beginLate(message, running);
    } catch (error) {
      this.#guard.fail(error);
    }
  };

  constructor(
    operation: Operation,
    library: string,
    scope: Scope,
    options: LibraryOptions,
    guard: LibraryGuard,
  ) {
    this.#operation = operation;
    this.callsBack = operation.callsBack === true;
    this.#scope = scope;
    this.#options = options;
    this.#guard = guard;
    this.#kind = KINDS.indexOf(operation.kind);
    this.#below = { kind: operation.kind };
    this.#followsParent =
      operation.callsBack !== true &&
      operation.received === undefined &&
      operation.turnsOn === undefined;
    this.#beginsLate = operation.atLeastMs !== undefined && operation.nests !== true;
    this.#carries = operation.carry !== undefined || operation.sent !== undefined;
    this.#countsAlone = operation.countedAlone === true && !options.named.includes(library);
  }

  subscribe(): void {
    const { channel, nests, entersByHand } = this.#operation;
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
        this.#beginPublished(message as Message);
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
    if (this.callsBack) {
      diagnostics
        .channel(nameOf('asyncStart'))
        .bindStore(this.#storage, (message) => this.#goBack(message as Message));
    }
    diagnostics.subscribe(nameOf('asyncEnd'), (message) => {
      try {
        const running = (message as Message)[RUNNING];
        if (running === undefined) return;
        this.#finish(message as Message, running);
        // Some libraries keep the message for as long as they keep a connection.
        (message as Message)[RUNNING] = undefined;
      } catch (error) {
        this.#guard.fail(error);
      }
    });
    if (this.#operation.turnsOn === undefined) recordDirectly(channel, this);
  }

  begin(message: Message): Running | undefined {
    const running = this.#begin(message);
    if (running !== undefined && this.#operation.nests === true) running.enter();
    return running;
  }

  returned(message: Message, running: Running): void {
    try {
      this.#returned(message, running);
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  ended(message: Message, running: Running): void {
    try {
      this.#finish(message, running);
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  handOver(message: Message, running: Running): void {
    try {
      message[RUNNING] = running;
      running.isHandedOver = true;
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  /** Begins what is announced where no store is bound: before this was loaded, or by the library's way. */
  beginByHand(message: Message): void {
    const running = this.#beginPublished(message);
    if (running !== undefined && this.#operation.nests === true) running.enter();
  }

  /** What is active while the operation runs. */
  #enter(message: Message): object | undefined {
    return this.#beginPublished(message)?.span ?? this.#storage.getStore();
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

  /** Begins an operation to which its message leads. */
  #beginPublished(message: Message): Running | undefined {
    let running: Running | undefined;
    try {
      const known = message[RUNNING];
      if (known?.isHandedOver === true) {
        known.isHandedOver = false;
        return known;
      }
      running = this.#begin(message);
      if (running !== undefined) message[RUNNING] = running;
      return running;
    } catch (error) {
      // A frozen message: nothing would end the span.
      if (running?.span !== undefined) spans.discard(running.span);
      this.#guard.fail(error);
      return undefined;
    }
  }

  #begin(message: Message): Running | undefined {
    if (!this.#guard.on) return undefined;
    try {
      return this.#beginOperation(message);
    } catch (error) {
      this.#guard.fail(error);
      return undefined;
    }
  }

  #beginOperation(message: Message): Running | undefined {
    const operation = this.#operation;
    operation.notice?.(message);
    const caller = spans.activeContext();
    if (this.#followsParent) {
      const parent = caller?.activeSpan;
      if (parent === undefined && this.#countsAlone) {
        const counted = new Running(undefined, caller);
        counted.since = performance.now();
        return counted;
      }
      if (parent !== undefined && isLeftOut(parent)) {
        if (this.#carries) this.#send(parent, message);
        return undefined;
      }
    }
    if (this.#beginsLate) {
      const late = new Running(undefined, caller);
      late.isLate = true;
      late.since = performance.now();
      return late;
    }
    const turns = operation.turnsOn?.(message) as { [TURN]?: Turn } | undefined;
    const above = turns === undefined ? caller : this.#takeTurn(turns, message, caller);
    const span = this.#start(message, above, above === caller);
    if (span === undefined && !this.callsBack) return undefined;
    return new Running(span, caller);
  }

  /** Begins the span of what has begun at `since`. */
  #beginLate(message: Message, running: Running): void {
    running.isLate = false;
    const { caller, since = 0 } = running;
    running.since = undefined;
    const span = this.#start(message, caller, caller === spans.activeContext());
    if (span?.recording !== true) return;
    beginEarlier(span, (performance.now() - since) * NS_PER_MS, caller?.activeSpan);
    running.span = span;
  }

  /** Ends the operation whose turn it was; returns what all of them are below. */
  #takeTurn(on: { [TURN]?: Turn }, message: Message, caller: Context): Context {
    const turn = on[TURN];
    if (turn === undefined) {
      on[TURN] = { above: caller, message };
      return caller;
    }
    const last = turn.message[RUNNING];
    if (last !== undefined) this.#finish(turn.message, last);
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
    if (operation.isDetached?.(message) === true) {
      const to = operation.linkOf?.(message);
      options = { ...this.#below, parent: null, links: to === undefined ? [] : [{ to }] };
    } else if (operation.received !== undefined) {
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
    if (running.isEntered) running.leave();
    const isDone =
      this.#operation.isDone === undefined
        ? 'result' in message || 'error' in message
        : this.#operation.isDone(message);
    if (!isDone) {
      // Who has not waited has gone on by then.
      if (running.isLate) process.nextTick(this.#whenWaiting, message, running);
      return;
    }
    if (message.result instanceof Promise) this.#whenSettled(message, running, message.result);
    else this.#finish(message, running);
  }

  /** The promise of a function of the program that a library calls. */
  #whenSettled(message: Message, running: Running, promise: Promise<unknown>): void {
    const { handlesPromises } = this.#operation;
    void then.call(
      promise,
      () => {
        this.ended(message, running);
      },
      (error: unknown) => {
        message.error = error;
        this.ended(message, running);
        // This has handled it. If nothing else does, the program is to find it unhandled.
        if (handlesPromises !== true) throw error;
      },
    );
  }

  #finish(message: Message, running: Running): void {
    if (running.isLate) {
      if (!this.#isWorthIt(message, running)) {
        running.isLate = false;
        running.since = undefined;
        this.#acquire(message, running, undefined);
        return;
      }
      this.#beginLate(message, running);
    }
    if (running.since !== undefined) {
      countParentless((performance.now() - running.since) * NS_PER_MS);
      running.since = undefined;
    }
    const { span } = running;
    running.span = undefined;
    this.#acquire(message, running, span);
    if (span?.recording !== true) return;
    try {
      const { atLeastMs = 0 } = this.#operation;
      const error = this.#errorOf(message);
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

  /** Notes who has a connection of a pool now, and had it before. */
  #acquire(message: Message, { caller }: Running, waited: Span | undefined): void {
    if (this.#operation.acquired === undefined) return;
    try {
      const connection = this.#operation.acquired(message);
      if (waited?.recording === true) linkHolder(connection, waited);
      noteHolder(connection, caller?.activeSpan);
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  /** Whether an operation that is over, and has no span yet, has failed or taken long. */
  #isWorthIt(message: Message, { since = 0 }: Running): boolean {
    const { atLeastMs = 0 } = this.#operation;
    return this.#errorOf(message) !== undefined || performance.now() - since >= atLeastMs;
  }

  #errorOf(message: Message): unknown {
    if ('error' in message) return message.error ?? null;
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

export function channelOf({ channel }: Operation, event: string): string {
  return `tracing:${channel}:${event}`;
}
