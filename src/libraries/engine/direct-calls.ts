import * as diagnostics from 'node:diagnostics_channel';
import {
  bindRecorder,
  directRecorder,
  recordCall,
  recordCallback,
  recordPromise,
} from './calls.js';
import type { CallRecorder, PublishResult } from './calls.js';
import { DIRECT } from './published-calls.js';
import type { AnyFunction, CallChannels } from './published-calls.js';

/** The functions of Node's `TracingChannel` that are replaced. */
interface TracingFunctions {
  readonly hasSubscribers?: boolean;
  traceCallback: AnyFunction;
  tracePromise: AnyFunction;
  traceSync: AnyFunction;
}

/** A message of Node's own making is of no use to a recorder. */
function isObject(message: unknown): message is object {
  return typeof message === 'object' && message !== null;
}

let isReplaced = false;

/** Replaces the functions of `TracingChannel`: those of channels that are not recorded do what they did. */
function replaceFunctions(prototype: TracingFunctions): void {
  const { traceCallback, tracePromise, traceSync } = prototype;
  const publishResult: PublishResult = (channels, message, result) =>
    tracePromise.call(channels, () => result, message);
  prototype.traceCallback = function (original, position, message, self, ...args) {
    const recorder = directRecorder((this as CallChannels).start);
    const at = typeof position === 'number' && position < 0 ? args.length + position : position;
    if (
      recorder === undefined ||
      !isObject(message) ||
      typeof at !== 'number' ||
      typeof args[at] !== 'function'
    ) {
      return traceCallback.call(this, original, position, message, self, ...args);
    }
    return recordCallback(recorder, message, original as AnyFunction, self, args, at);
  };
  prototype.tracePromise = function (original, message, self, ...args) {
    const recorder = directRecorder((this as CallChannels).start);
    if (recorder === undefined || !isObject(message)) {
      return tracePromise.call(this, original, message, self, ...args);
    }
    return recordPromise(
      recorder,
      message,
      original as AnyFunction,
      self,
      args,
      this as CallChannels,
      publishResult,
    );
  };
  prototype.traceSync = function (original, message, self, ...args) {
    const recorder = directRecorder((this as CallChannels).start);
    if (recorder === undefined || !isObject(message)) {
      return traceSync.call(this, original, message, self, ...args);
    }
    return recordCall(recorder, message, original as AnyFunction, self, args);
  };
  replaceQuestion(prototype);
}

/**
 * A library that asks whether anybody listens hears no below a span that is not recorded, and makes no message then.
 * Nodes without this property ask nothing.
 */
function replaceQuestion(prototype: TracingFunctions): void {
  const asked = Object.getOwnPropertyDescriptor(prototype, 'hasSubscribers');
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
  const hasSubscribers = asked?.get;
  if (hasSubscribers === undefined) return;
  Object.defineProperty(prototype, 'hasSubscribers', {
    ...asked,
    get(this: CallChannels) {
      return this.start[DIRECT]?.isUnheard === true
        ? false
        : (hasSubscribers.call(this) as unknown);
    },
  });
}

/**
 * Records the calls of a tracing channel without publishing them, as long as nobody else subscribes to it. Node
 * publishes a call by closures and lists of arguments, and from Node 24 on enters each store by a copy of a map of all.
 */
export function recordDirectly(channel: string, recorder: CallRecorder): void {
  const channels = diagnostics.tracingChannel(channel);
  bindRecorder(channels, recorder);
  if (isReplaced) return;
  isReplaced = true;
  replaceFunctions(Object.getPrototypeOf(channels) as TracingFunctions);
}
