import { spans } from '../../spans/shared-spans.js';
import { runForAll } from '../engine/batch-callers.js';
import {
  asCaller,
  bindFunctions,
  boundCallback,
  Caller,
  callOutside,
  keepCaller,
  setCaller,
} from '../engine/callers.js';
import { openConnection } from '../engine/connection-context.js';
import { isObject } from '../engine/payload.js';
import type { AnyFunction } from '../engine/published-calls.js';
import type { ChangedText, Injection } from './injected-file.js';

/** Libraries that record nothing: they call functions of the program elsewhere than where it asked for that. */

export const calls = (): object => ({
  /** A function, called with what is active now. */
  bound: boundCallback,
  /** The active context. */
  caller: () => new Caller(),
  /** Keeps what is active with something that is asked for. */
  keep: keepCaller,
  /** Keeps what is active with something that is asked for again. */
  again: setCaller,
  /** Calls a function where that was asked for. */
  as: asCaller,
  /** Calls a function for all of these that were asked for. */
  all: runForAll,
  /** Calls a function for all of these, if there are any, else for nobody. */
  batch: (asked: readonly object[], fn: () => unknown) =>
    asked.length === 0 ? callOutside(fn) : runForAll(asked, fn),
  tasks: keepTasks,
  outside: callOutside,
  opened: openConnection,
  opens: sshChannelOpened,
  heard: heardCallback,
  /** Something that waits, with what is active now. */
  kept<Asked extends object>(asked: Asked): Asked {
    keepCaller(asked);
    return asked;
  },
  /** An emitter whose listeners run with what is active now. */
  emits<T>(emitter: T): T {
    if (isObject(emitter)) bindFunctions(emitter, ['emit']);
    return emitter;
  },
});

/** A callback of messages: it is called where the program subscribed as long as the span there is open, then nowhere. */
function heardCallback(callback: unknown): unknown {
  const context = spans.activeContext();
  if (typeof callback !== 'function' || context?.activeSpan === undefined) return callback;
  return function (this: unknown, ...message: unknown[]): unknown {
    const active = context.activeSpan?.recording === true ? context : undefined;
    return spans.applyIn(active, callback as AnyFunction, this, message);
  };
}

/** Changes that leave another version of the library as it is. */
export function texts(
  name: string,
  changes: readonly (readonly [string | RegExp, string])[],
): ChangedText[] {
  const channel = `orchestrion:${name}:task`;
  return changes.map(([from, to]) => ({ channel, from, to, isOptional: true }));
}

export function carrier(
  name: string,
  path: RegExp,
  ...changes: readonly (readonly [string | RegExp, string])[]
): Injection {
  return { files: [{ package: name, path, texts: texts(name, changes) }], calls };
}

interface Tasks {
  get(): object;
  release(task: object): void;
}

/** Objects of tasks, which the library uses again. */
function keepTasks(tasks: Tasks): Tasks {
  return {
    get() {
      const task = tasks.get();
      setCaller(task);
      return task;
    },
    release(task) {
      tasks.release(task);
    },
  };
}

/** A channel of SSH, or a session of SFTP, which others may use later. */
interface SshChannel {
  readonly stderr?: unknown;
  readonly _requests?: unknown;
}

/** The function that gets a channel: its events come where that was asked for. */
function sshChannelOpened(callback: AnyFunction): AnyFunction {
  return spans.bind((error: unknown, opened: unknown) => {
    if (isObject(opened)) {
      const channel: SshChannel = opened;
      keepCaller(channel);
      if (channel._requests === undefined) {
        bindFunctions(channel, ['emit']);
        if (isObject(channel.stderr)) bindFunctions(channel.stderr, ['emit']);
      }
    }
    return callback(error, opened);
  });
}
