import * as diagnostics from 'node:diagnostics_channel';
import {
  DirectChannel,
  FAILED,
  PENDING,
  recordCall,
  recordCallback,
  recordPromise,
  RUNNING,
  SUCCEEDED,
} from './calls.js';
import type { CallMessage, CallRecorder, PublishResult, RunningCall } from './calls.js';
import { DIRECT, TURNS } from './published-calls.js';
import type { AnyFunction, CallChannel, CallChannels, TurnCalls } from './published-calls.js';

/** The recorder that is bound to a tracing channel; undefined: there is none, or there is another subscriber. */
function directRecorder(start: CallChannel): CallRecorder | undefined {
  const direct = start[DIRECT];
  return direct?.isAlone === true ? (direct as DirectChannel).recorder : undefined;
}

/** Has the calls of a tracing channel recorded without publishing them, as long as nobody else subscribes to it. */
function bindRecorder(channels: CallChannels, recorder: CallRecorder): void {
  channels.start[DIRECT] = new DirectChannel(channels, recorder);
}

/**
 * Has the calls of a library that calls `runStores` itself begin without what Node does for it, as long as nobody else
 * subscribes.
 */
export function beginDirectly(
  channels: CallChannels,
  recorder: CallRecorder,
  begin: (message: CallMessage) => void,
): void {
  const direct = new DirectChannel(channels, recorder);
  const runStores = function (
    this: object,
    message: object,
    run: AnyFunction,
    self?: unknown,
    ...args: unknown[]
  ): unknown {
    if (!direct.isAlone) {
      // Node gives the channel another prototype with its first subscriber, and after its last.
      const { runStores: publish } = Object.getPrototypeOf(this) as { runStores: AnyFunction };
      return publish.call(this, message, run, self, ...args);
    }
    begin(message);
    return run.apply(self, args);
  };
  Object.defineProperty(channels.start, 'runStores', {
    value: runStores,
    configurable: true,
    writable: true,
  });
}

/** Calls that take turns, recorded without subscribers. */
class TurnChannel extends DirectChannel implements TurnCalls {
  override begin(message: CallMessage): RunningCall | undefined {
    const call = this.recorder.begin(message);
    if (call !== undefined) message[RUNNING] = call;
    return call;
  }

  returned(message: CallMessage, call: RunningCall, isPending: boolean): void {
    const outcome = 'error' in message ? FAILED : SUCCEEDED;
    this.recorder.returned(message, call, isPending ? PENDING : outcome);
  }

  ended(message: CallMessage, call: RunningCall): void {
    this.recorder.ended(message, call, 'error' in message);
  }
}

/**
 * Has calls that take turns recorded directly where the library asks for that. A library that asks each channel whether
 * anybody listens hears that nobody does to a call that is not recorded, as long as nobody else subscribes.
 */
export function answerForChannels(channels: CallChannels, recorder: CallRecorder): void {
  const direct = new TurnChannel(channels, recorder);
  channels.start[TURNS] = direct;
  const answer = {
    configurable: true,
    get(this: CallChannel) {
      return !direct.isUnheard && (Object.getPrototypeOf(this) as CallChannel).hasSubscribers;
    },
  };
  for (const each of [channels.start, channels.end, channels.asyncEnd]) {
    Object.defineProperty(each, 'hasSubscribers', answer);
  }
}

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
