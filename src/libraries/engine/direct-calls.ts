import * as diagnostics from 'node:diagnostics_channel';
import {
  bindRecorder,
  directRecorder,
  recordCall,
  recordCallback,
  recordPromise,
} from './calls.js';
import type { CallRecorder } from './calls.js';
import type { AnyFunction, CallChannels } from './published-calls.js';

/** The functions of Node's `TracingChannel` that are replaced. */
interface TracingFunctions {
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
    return recordPromise(recorder, message, original as AnyFunction, self, args, (result) =>
      tracePromise.call(this, () => result, message),
    );
  };
  prototype.traceSync = function (original, message, self, ...args) {
    const recorder = directRecorder((this as CallChannels).start);
    if (recorder === undefined || !isObject(message)) {
      return traceSync.call(this, original, message, self, ...args);
    }
    return recordCall(recorder, message, original as AnyFunction, self, args);
  };
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
