import { getSystemErrorName } from 'node:util';
import { core } from '../addon.js';
import { shared } from '../process-state.js';
import { ofType } from '../options/argument.js';

/** News of where a trace goes: it has begun to fail, or it works again. */
export interface TargetFault {
  /** False when the target begins to fail, true when it works again. */
  over: boolean;
  /** Whether `maxBytes` are reached, so that recording has ended for good. */
  spent: boolean;
  /** The file, or the address of the collector; of an ovni process its directory. */
  target: string;
  /** The system's name of the last error: `'ENOSPC'`. */
  code: string;
  /** Its number. */
  errno: number;
  /** The operation, and why it failed. */
  message: string;
  /** Events of this target that were dropped since the process began, of all its threads. */
  dropped: number;
}

/** Takes the news; it runs on the event loop of the thread that opened the trace. */
export type FaultHandler = (fault: TargetFault) => void;

/** A target that works again and fails within this time was never well. */
const SETTLED_MS = 1000;

interface Watch {
  readonly handlers: (FaultHandler | undefined)[];
  /** The state that was last reported to the service. */
  failing: boolean;
  /** The group's number of changes when the service last looked. */
  seenChanges: number;
  settling: NodeJS.Timeout | undefined;
}

/** Of all copies of the package in the thread: the native core calls back one of them. */
const watches = shared('ring.watches', () => new Map<string, Watch>());

/**
 * The option `onFault`.
 *
 * @throws TracewrightError unless it is a function or absent.
 */
export function checkFaultHandler(handler: unknown): FaultHandler | undefined {
  return handler === undefined
    ? undefined
    : (ofType('onFault', handler, 'function') as FaultHandler);
}

/**
 * Lets the service know when the targets of a group begin to fail and when they work again: through
 * the handlers that were given on this thread, or, where there is none, one warning for the process.
 *
 * @returns what ends the watch.
 */
export function watchTargets(group: string, handler: FaultHandler | undefined): () => void {
  let watch = watches.get(group);
  if (watch === undefined) {
    watch = { handlers: [], failing: false, seenChanges: 0, settling: undefined };
    watches.set(group, watch);
    if (core.onTargetChange(noticeChange)) core.watchGroup(group);
    const { changes, failing } = core.groupState(group);
    // Of a group that fails already the news is on its way.
    watch.seenChanges = failing ? changes - 1 : changes;
  }
  watch.handlers.push(handler);
  if (handler !== undefined) core.leaveToProgram(group);
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    watch.handlers.splice(watch.handlers.indexOf(handler), 1);
    if (watch.handlers.length > 0) return;
    clearTimeout(watch.settling);
    watches.delete(group);
    core.unwatchGroup(group);
  };
}

/** Called by the native core, on the event loop, after the state of a group has changed. */
function noticeChange(group: string): void {
  const watch = watches.get(group);
  if (watch === undefined) return;
  const state = core.groupState(group);
  const isNew = state.changes !== watch.seenChanges;
  watch.seenChanges = state.changes;
  // Any change from healthy is a failure, even if it is already over.
  if (!watch.failing && isNew) {
    watch.failing = true;
    reportFault(group, watch, false);
  }
  if (watch.failing && !state.failing) {
    watch.settling ??= setTimeout(settle, SETTLED_MS, group, state.changes).unref();
  }
}

function settle(group: string, changes: number): void {
  const watch = watches.get(group);
  if (watch === undefined) return;
  watch.settling = undefined;
  const state = core.groupState(group);
  if (state.failing) return;
  if (state.changes !== changes) {
    watch.settling = setTimeout(settle, SETTLED_MS, group, state.changes).unref();
    return;
  }
  watch.failing = false;
  // A stream that ended while its target failed has left the group without mending it.
  if (state.recovered) reportFault(group, watch, true);
}

function reportFault(group: string, watch: Watch, over: boolean): void {
  const { errno, first, message, spent } = core.groupState(group);
  const fault: TargetFault = {
    over,
    spent,
    target: group.replace(/^(file|unix):/, ''),
    code: errno === 0 ? '' : getSystemErrorName(-errno),
    errno,
    message,
    dropped: core.groupCounts(group).droppedRecords,
  };
  const handlers = watch.handlers.filter((handler) => handler !== undefined);
  if (handlers.length === 0 && first) warnOf(fault);
  for (const handler of new Set(handlers)) {
    try {
      handler(fault);
    } catch (error) {
      // The host's mistake, but no reason to end it from in here.
      process.emitWarning(`onFault has thrown: ${String(error)}`, { type: 'TracewrightWarning' });
    }
  }
}

function warnOf({ code, dropped, message, over, spent, target }: TargetFault): void {
  if (spent) {
    process.emitWarning(
      `the trace ${target} has reached maxBytes; further events are dropped and counted`,
      { type: 'TracewrightWarning', code: 'TRACEWRIGHT_BUDGET_SPENT' },
    );
    return;
  }
  if (over) {
    process.emitWarning(
      `the trace ${target} is written again; ${dropped} events were dropped so far`,
      { type: 'TracewrightWarning', code: 'TRACEWRIGHT_TARGET_WORKS' },
    );
    return;
  }
  process.emitWarning(
    `the trace ${target} cannot be written (${code}: ${message}); what its rings hold is kept and ` +
      'goes out when it can be, events that find a ring full are dropped and counted',
    { type: 'TracewrightWarning', code: 'TRACEWRIGHT_TARGET_FAILS' },
  );
}
