import * as diagnostics from 'node:diagnostics_channel';
import { DIRECT, publishedCallback } from '../engine/published-calls.js';
import type {
  AnyFunction,
  CallChannels,
  DirectCalls,
  PublishedMessage,
} from '../engine/published-calls.js';

/** A tracing channel, with what is published of calls. */
export type TracedChannels = CallChannels & diagnostics.TracingChannel;

/** Further fields of a message. */
export type Fields = Readonly<Record<string, unknown>>;

export function channelsOf(name: string): TracedChannels {
  return diagnostics.tracingChannel(name);
}

/** The direct recorder of a channel that nobody else listens to. */
export function directOf({ start }: CallChannels): DirectCalls | undefined {
  const direct = start[DIRECT];
  return direct?.isAlone === true ? direct : undefined;
}

/** Subjects that were published when the program passed them to a library, which may pass them to itself again. */
const published = new WeakSet<object>();

/** A subject that is another's, which was published. */
export function markPublished(subject: object): void {
  published.add(subject);
}

export function isPublished(subject: object): boolean {
  return published.has(subject);
}

/** Publishes that a call begins; undefined: nobody listens, or that was published. */
export function publishStart(
  { start, end }: CallChannels,
  subject: object,
  message: PublishedMessage & Fields,
): PublishedMessage | undefined {
  if (!start.hasSubscribers || published.has(subject)) return undefined;
  published.add(subject);
  start.publish(message);
  end.publish(message);
  return message;
}

export function publishSuccess(
  { asyncEnd }: CallChannels,
  message: PublishedMessage,
  result?: unknown,
): void {
  message.result = result;
  asyncEnd.publish(message);
}

export function publishFailure(
  { error: failed, asyncEnd }: CallChannels,
  message: PublishedMessage,
  error: unknown,
): void {
  message.error = error;
  failed.publish(message);
  asyncEnd.publish(message);
}

/** The end of waiting for a pool, by the callback that gets the connection. */
export function publishedWait(channels: CallChannels, callback: unknown, fields: Fields): unknown {
  if (typeof callback !== 'function') return callback;
  const message = publishStart(channels, callback, fields);
  if (message === undefined) return callback;
  const own = publishedCallback(channels, message, callback as AnyFunction);
  // The pool may wait again with it.
  markPublished(own);
  return own;
}
