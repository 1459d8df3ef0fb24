import type { EventEmitter } from 'node:events';
import type { SpanValue } from '../spans/attributes.js';
import type { SpanKind } from '../spans/layout.js';
import type { Span } from '../spans/span.js';
import type { Prefix } from '../spans/slot/prefix.js';
import type { Attributes } from './engine/attribute-names.js';

/** The span of an operation as it begins. */
export interface Description {
  /** Of few different values. */
  name: string;
  /** Becomes the span's own. Those that are undefined are not recorded. */
  attributes: Attributes;
  /** Of one that is given again and again, and never changes: what its spans begin with, once there was one. */
  kept?: { prefix: Prefix | undefined };
}

/** The recorded part of an error: never its message, which may quote values. */
export interface Failure {
  /** `error.type`: the error's code, else its class. */
  type: string;
  /** The code of the server, such as `1062`, and the attribute that has it. */
  status?: string;
}

/**
 * One kind of call, as a library publishes it on a tracing channel of Node, and the span that is made of it. The
 * functions may throw: the library is then left alone, with one warning.
 */
export interface Operation<Message extends object = object> {
  /** The tracing channel, without `tracing:` and the event. */
  channel: string;
  kind: SpanKind;
  /** Whether what the library asks of others meanwhile belongs below this span: it is active then. */
  nests?: boolean;
  /**
   * Whether its span becomes active by hand, until the call returns: its start is published without a store, or a
   * store costs too much.
   */
  entersByHand?: boolean;
  /**
   * Whether it opens a connection, which serves others later. Nothing is active in what the library starts for it: in
   * its events, its timers, and when it connects again.
   */
  connects?: boolean;
  /** Whether the program goes on in a callback: it gets back the context in which it called. */
  callsBack?: boolean;
  /**
   * Whether the library asks if anybody listens to a call once, as it begins. It is recorded below a span, and carries
   * nothing on.
   */
  asksOnce?: boolean;
  /** Whether it is a function that a framework calls for a request: the answer says whether its error is a failure. */
  isHandler?: boolean;
  /** Whether the library handles the promise that a function of the program returns to it. */
  handlesPromises?: boolean;
  /** Whether it is recorded only as a part of something else. */
  needsParent?: boolean;
  /** Whether it is counted, and is no span, without a parent: unless `TRACEWRIGHT_LIBRARIES` names the library. */
  countedAlone?: boolean;
  /** Milliseconds that it must take to be recorded: for what mostly costs nothing. Default 0. */
  atLeastMs?: number;
  /**
   * Whether a span is only counted if it takes less than 1 ms, has not failed, and has nothing below it: unless
   * `TRACEWRIGHT_LIBRARIES` names the library.
   */
  isMinor?(span: Span): boolean;
  /** The span as it begins; undefined: this one is not recorded. */
  describe(message: Message, options: LibraryOptions): Description | undefined;
  /** Sees every message as it begins, also of what is not recorded. It must not keep values. */
  notice?(message: Message): void;
  /** Whether what was received begins a trace, with a link to its sender. `headers`: what `received` has returned. */
  beginsTrace?(message: Message, sender: object, headers: object): boolean;
  /** Whether it is a new beginning, whatever is active: a connection that is made again. */
  isDetached?(message: Message): boolean;
  /** The span that it comes from, if that is not above it. */
  linkOf?(message: Message): Span | undefined;
  /** The headers of a message that was received: its sender is the parent. Undefined: a new trace begins. */
  received?(message: Message): object | undefined;
  /** Has a message carry the trace on: calls `send` with its headers, once for each message of a batch. */
  carry?(message: Message, send: Send): void;
  /** The object on which the operations of this channel follow each other: one ends when the next begins. */
  turnsOn?(message: Message): object;
  /**
   * Whether it is over when the call has returned. Default: it has a result or an error by then. A result that
   * is a promise is waited for.
   */
  isDone?(message: Message): boolean;
  /** The error that a result is, for what fails without throwing. */
  errorOf?(message: Message): unknown;
  /** Adds what is known at the end. */
  finish?(span: Span, message: Message): void;
  /** The recorded part of an error. Default: its code or class. */
  failure?(error: unknown): Failure;
  /** Whether an error is none: an answer to the caller, or the program has ended it itself. Default: it never is. */
  isControlFlow?(error: unknown, message: Message): boolean;
  /** Of waiting for a pool: the connection that it gave. A span has a link to who held that before. */
  acquired?(message: Message): unknown;
}

/**
 * Puts the headers of the trace into those of a message: an object, or what has `get`, `set` and `delete`. False: the
 * message has others, which stay.
 */
export type Send = (headers: object) => boolean;

/** The span of something that ends with what an object emits. Its functions do nothing once it has ended. */
export interface FollowedSpan {
  set(name: string, value: SpanValue): void;
  rename(name: string): void;
  /** Calls `listen` with what an object emits, until the span ends. What it throws ends the library's tracing. */
  on(emitter: EventEmitter, event: string | symbol, listen: (...values: unknown[]) => void): void;
  /** A part of it that begins now, or with it, and ends with it at the latest. */
  part(name: string, attributes: Attributes, begins: 'now' | 'with it'): FollowedSpan;
  /** Ends it. An error, which may be undefined, makes it a failed one. */
  end(failed?: { error: unknown }): void;
}

/** An operation that is published once, on a plain channel. */
export interface Announcement<Message extends object = object> {
  /** The channel. */
  channel: string;
  kind: SpanKind;
  /** Whether it is recorded only as a part of something else. */
  needsParent?: boolean;
  /** The span; undefined: this one is not recorded. */
  describe(message: Message, options: LibraryOptions): Description | undefined;
  /** Of what is published when it is over: how many nanoseconds it has taken. */
  tookNs?(message: Message): number;
  /** Of what is published when it begins: has the span end with it. */
  follow?(message: Message, span: FollowedSpan): void;
}

/** A library that publishes what it does. */
export interface Library {
  /** As in `TRACEWRIGHT_LIBRARIES`, and in the scope of the spans. */
  name: string;
  operations: readonly Operation[];
  announcements?: readonly Announcement[];
}

/** Settings of what is recorded of libraries. */
export interface LibraryOptions {
  /** Those that `TRACEWRIGHT_LIBRARIES` names, rather than `auto` alone. */
  named: readonly string[];
  /** `TRACEWRIGHT_QUERY_TEXT`: the text of queries too, with their literals replaced. */
  queryText: boolean;
  /** `TRACEWRIGHT_ERROR_TEXT`: messages of all errors or of none; of libraries they may quote values. */
  errorText: 'own' | boolean;
  /** Whether messages carry the trace on: unless `TRACEWRIGHT_PROPAGATE` is `off`, or a list of hosts. */
  propagates: boolean;
}
