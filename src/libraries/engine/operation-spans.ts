import type { RemoteParent } from '../../spans/context/remote-parent.js';
import type { ActiveContext } from '../../spans/context/active-context.js';
import { spans } from '../../spans/shared-spans.js';
import { KIND_SHIFT, KINDS } from '../../spans/layout.js';
import type { Scope } from '../../spans/scope.js';
import { REMOTE } from '../../spans/span.js';
import type { Span } from '../../spans/span.js';
import type { StartOptions } from '../../spans/start-span.js';
import type { LibraryOptions, Operation } from '../library.js';
import { countParentless } from '../parentless-calls.js';
import { linkHolder, noteHolder } from './connection-holders.js';
import { FAILED, PENDING, RUNNING, RunningCall } from './calls.js';
import type { CallMessage, CallRecorder, Outcome } from './calls.js';
import { endWhenAnswered } from './failed-handlers.js';
import { failureOf, markFailed } from './failure.js';
import { prefixOf } from './kept-descriptions.js';
import type { LibraryGuard } from './library-guard.js';
import { whole } from './whole-operation.js';

const SAMPLED = 1;
const NS_PER_MS = 1e6;

type Context = ActiveContext | undefined;
type Message = CallMessage;

const TURN = Symbol('tracewright.turn');

/** Where operations take turns: what is above them, and whose turn it is. */
interface Turn {
  above: Context;
  message: Message;
}

/** Makes spans of the operations of one channel. */
export class OperationSpans implements CallRecorder {
  readonly callsBack: boolean;
  readonly readsResult: boolean;
  readonly #operation: Operation;
  readonly #options: LibraryOptions;
  readonly #guard: LibraryGuard;
  readonly #scope: Scope;
  readonly #kind: number;
  readonly #below: StartOptions;
  /** Whether there is something to do for a call that is not recorded. */
  readonly #isKept: boolean;
  /** Whether the active span alone decides if one is recorded. */
  readonly #followsParent: boolean;
  readonly #carries: boolean;
  /** Whether it is no span without a parent, but counted. */
  readonly #countsAlone: boolean;
  /** Whether its span begins only when the program has to wait: most of these are over at once. */
  readonly #beginsLate: boolean;
  /** Whether the message says what its span is below. */
  readonly #choosesParent: boolean;
  /** Whether it only lasts as long as what the program does for a request. */
  readonly #isInternal: boolean;
  /** Whether its span just ends when it has succeeded: that of most does. */
  readonly #endsPlainly: boolean;
  readonly #isMinor: boolean;
  readonly #whenWaiting = (message: Message, running: RunningCall): void => {
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
    this.#operation = whole(operation);
    this.callsBack = operation.callsBack === true;
    this.readsResult =
      operation.acquired !== undefined ||
      operation.errorOf !== undefined ||
      operation.finish !== undefined;
    this.#scope = scope;
    this.#options = options;
    this.#guard = guard;
    this.#kind = KINDS.indexOf(operation.kind) << KIND_SHIFT;
    this.#isInternal = operation.kind === 'internal';
    this.#below = { kind: operation.kind };
    this.#isKept = operation.callsBack === true || operation.connects === true;
    this.#beginsLate = operation.atLeastMs !== undefined && operation.nests !== true;
    this.#carries = operation.carry !== undefined;
    this.#countsAlone = operation.countedAlone === true && !options.named.includes(library);
    this.#choosesParent = operation.received !== undefined || operation.isDetached !== undefined;
    this.#followsParent = !this.#isKept && !this.#choosesParent;
    this.#isMinor = operation.isMinor !== undefined && !options.named.includes(library);
    this.#endsPlainly = !this.readsResult && operation.atLeastMs === undefined;
  }

  get isSilent(): boolean {
    if (this.#operation.asksOnce !== true) return false;
    const parent = spans.activeContext()?.activeSpan;
    return parent === undefined ? this.#operation.needsParent === true : isLeftOut(parent);
  }

  begin(message: Message): RunningCall | undefined {
    const running = this.beginApart(message);
    if (running === undefined) return undefined;
    if (this.#operation.nests === true) running.enter();
    else if (this.#operation.connects === true) running.enterNothing();
    return running;
  }

  returned(message: Message, running: RunningCall, outcome: Outcome): void {
    try {
      this.#returned(message, running, outcome);
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  ended(message: Message, running: RunningCall, hasFailed: boolean): void {
    try {
      this.#finish(message, running, hasFailed);
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  acquired(result: unknown): void {
    if (this.#guard.on) noteHolder(result, spans.activeContext()?.activeSpan);
  }

  handOver(message: Message, running: RunningCall): void {
    try {
      message[RUNNING] = running;
      running.isHandedOver = true;
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  /** As `begin`, of what becomes active in another way, if at all. */
  beginApart(message: Message): RunningCall | undefined {
    if (this.#guard.on !== true) return undefined;
    try {
      return this.#beginOperation(message);
    } catch (error) {
      this.#guard.fail(error);
      return undefined;
    }
  }

  #beginOperation(message: Message): RunningCall | undefined {
    const operation = this.#operation;
    operation.notice?.(message);
    const caller = spans.activeContext();
    if (this.#followsParent === true) {
      const parent = caller?.activeSpan;
      if (parent === undefined && this.#countsAlone) {
        const counted = new RunningCall(undefined, caller);
        counted.since = performance.now();
        return counted;
      }
      if (parent !== undefined && isLeftOut(parent)) {
        if (this.#carries) this.#send(parent, message);
        return undefined;
      }
    }
    if (this.#beginsLate) {
      const late = new RunningCall(undefined, caller);
      late.isLate = true;
      late.since = performance.now();
      return late;
    }
    const turns = operation.turnsOn?.(message);
    const above = turns === undefined ? caller : this.#takeTurn(turns, message, caller);
    const span = this.#start(message, above, above === caller);
    if (span === undefined && !this.#isKept) return undefined;
    return new RunningCall(span, caller);
  }

  /** Begins the span of what has begun at `since`. */
  #beginLate(message: Message, running: RunningCall): void {
    running.isLate = false;
    const { caller, since = 0 } = running;
    running.since = undefined;
    const tookNs = (performance.now() - since) * NS_PER_MS;
    const span = this.#start(message, caller, caller === spans.activeContext(), tookNs);
    if (span?.recording !== true) return;
    running.span = span;
    if (this.#isInternal) running.wait();
  }

  /** Ends the operation whose turn it was; returns what all of them are below. */
  #takeTurn(on: { [TURN]?: Turn }, message: Message, caller: Context): Context {
    const turn = on[TURN];
    if (turn === undefined) {
      on[TURN] = { above: caller, message };
      return caller;
    }
    const last = turn.message[RUNNING];
    if (last !== undefined) this.#finish(turn.message, last, 'error' in turn.message);
    turn.message = message;
    return turn.above;
  }

  /** @param tookNs nanoseconds since it began, if that was before. */
  #start(message: Message, above: Context, isActive: boolean, tookNs = 0): Span | undefined {
    const operation = this.#operation;
    const isApart = operation.received !== undefined || operation.isDetached?.(message) === true;
    const parent = isApart ? undefined : above?.activeSpan;
    if (parent === undefined) {
      if (operation.needsParent === true) return undefined;
    } else if (isLeftOut(parent)) {
      this.#send(parent, message);
      return undefined;
    }
    const description = operation.describe(message, this.#options);
    if (description === undefined) return undefined;
    const { name, attributes } = description;
    const options = this.#choosesParent ? this.#parentOf(message) : undefined;
    let span: Span;
    if (options !== undefined) {
      span = spans.startScopedSpan(this.#scope, name, attributes, options, tookNs);
    } else {
      const context = isActive || parent !== undefined ? above : spans.activeContext();
      const prefix = prefixOf(description, this.#scope, this.#kind);
      const given = description.kept === undefined ? attributes : undefined;
      span = spans.startIn(context, prefix, given, '', tookNs);
    }
    if (this.#carries) this.#send(span, message);
    return span;
  }

  /** The parent that the message names; undefined: the active span. */
  #parentOf(message: Message): StartOptions | undefined {
    const operation = this.#operation;
    if (operation.isDetached?.(message) === true) {
      const to = operation.linkOf?.(message);
      return { ...this.#below, parent: null, links: to === undefined ? [] : [{ to }] };
    }
    if (operation.received === undefined) return undefined;
    const headers = operation.received(message);
    const sender = senderOf(headers);
    const begins =
      sender?.parent !== undefined && operation.beginsTrace?.(message, sender, headers!) === true;
    if (!begins) return { ...this.#below, parent: sender };
    return { ...this.#below, parent: sender.withoutParent(), links: [{ to: sender }] };
  }

  /** Has a message carry the trace on, unless the program has done so itself. */
  #send(span: Span, message: Message): void {
    if (!this.#options.propagates || span.activeSpan === undefined) return;
    this.#operation.carry?.(message, (headers) => spans.sendSpan(span, undefined, headers));
  }

  /** The call has returned. What it began may go on. */
  #returned(message: Message, running: RunningCall, outcome: Outcome): void {
    running.leave();
    const isDone =
      this.#operation.isDone === undefined ? outcome !== PENDING : this.#operation.isDone(message);
    if (!isDone) {
      if (this.#isInternal) running.wait();
      // Who has not waited has gone on by then.
      if (running.isLate) process.nextTick(this.#whenWaiting, message, running);
      return;
    }
    if (message.result instanceof Promise) {
      if (this.#isInternal) running.wait();
      this.#whenSettled(message, running, message.result);
    } else this.#finish(message, running, outcome === FAILED);
  }

  /** The promise of a function of the program that a library calls. */
  #whenSettled(message: Message, running: RunningCall, promise: Promise<unknown>): void {
    const { handlesPromises } = this.#operation;
    void then.call(
      promise,
      (value: unknown) => {
        message.result = value;
        this.ended(message, running, false);
      },
      (error: unknown) => {
        message.error = error;
        this.ended(message, running, true);
        // This has handled it. If nothing else does, the program is to find it unhandled.
        if (handlesPromises !== true) throw error;
      },
    );
  }

  #finish(message: Message, running: RunningCall, hasFailed: boolean): void {
    if (hasFailed || this.#endsPlainly !== true || running.since !== undefined) {
      this.#finishAny(message, running, hasFailed);
      return;
    }
    const { span } = running;
    running.span = undefined;
    if (span === undefined || (this.#isMinor && this.#omits(span))) return;
    span.end();
  }

  /** Whether a span is not worth a record: it is over, and counted with its request. */
  #omits(span: Span): boolean {
    if (this.#operation.isMinor!(span) !== true || spans.areObserved()) return false;
    return span.omitIfMinor();
  }

  /** As `#finish`, of anything. */
  #finishAny(message: Message, running: RunningCall, hasFailed: boolean): void {
    if (running.isLate) {
      if (!this.#isWorthIt(message, running, hasFailed)) {
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
      const error = this.#errorOf(message, hasFailed);
      if (error !== undefined) {
        if (this.#operation.isHandler === true && this.#failsLater(span, error, message)) return;
        this.#fail(span, error);
      } else if (atLeastMs > 0 && ageOf(span) < atLeastMs * NS_PER_MS) {
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
  #acquire(message: Message, { caller }: RunningCall, waited: Span | undefined): void {
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
  #isWorthIt(message: Message, { since = 0 }: RunningCall, hasFailed: boolean): boolean {
    const { atLeastMs = 0 } = this.#operation;
    return (
      this.#errorOf(message, hasFailed) !== undefined || performance.now() - since >= atLeastMs
    );
  }

  #errorOf(message: Message, hasFailed: boolean): unknown {
    if (!hasFailed) return this.#operation.errorOf?.(message) ?? undefined;
    const error = message.error ?? null;
    return this.#isControlFlow(error, message) ? undefined : error;
  }

  #isControlFlow(error: unknown, message: Message): boolean {
    try {
      return this.#operation.isControlFlow?.(error, message) === true;
    } catch {
      // A getter of the program's error has thrown.
      return false;
    }
  }

  #failsLater(span: Span, error: unknown, message: Message): boolean {
    const mark = (time: bigint): void => {
      this.#fail(span, error, time);
    };
    if (!endWhenAnswered(span, error, mark)) return false;
    this.#operation.finish?.(span, message);
    return true;
  }

  #fail(span: Span, error: unknown, time?: bigint): void {
    const operation = this.#operation;
    const failure = operation.failure === undefined ? failureOf(error) : operation.failure(error);
    markFailed(span, operation.kind, failure, error, this.#options, time);
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
