import { microseconds } from '../../core/chrome-event.js';
import type { ChromeEvent } from '../../core/chrome-event.js';
import { dumpObject } from './dump.js';
import { readKernelEvents } from './kernel-reader.js';
import type { KernelEvent, ReadKernelEventOptions } from './kernel-reader.js';

const PID = 1;
const KERNEL_THREAD = 0;
/** Properties that are not arguments of the event. */
const COMMON = new Set(['kind', 'tag', 'timestamp', 'offset']);

function argumentsOf(event: KernelEvent): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(dumpObject(event)).filter(([name]) => !COMMON.has(name)),
  );
}

/**
 * A kernel trace as events of a trace viewer. A task has the CPU from the time it is scheduled until
 * another task is. Every other record is an instant of its task. A timestamp counts as one
 * nanosecond, the unit of Tracewright's clock: the length of a cycle is unknown.
 */
export function* kernelChromeEvents(
  path: string,
  options: ReadKernelEventOptions = {},
): Generator<ChromeEvent, void> {
  let running: { task: number; since: bigint } | undefined;
  let last = 0n;
  const ended = (at: bigint): ChromeEvent[] => {
    if (running === undefined) return [];
    const { task, since } = running;
    const ts = microseconds(since);
    const dur = at < since ? 0 : microseconds(at - since);
    return [{ name: 'scheduled', ph: 'X', ts, dur, pid: PID, tid: task }];
  };
  for (const event of readKernelEvents(path, options)) {
    if (event.kind === 'end') continue;
    last = event.timestamp;
    if (event.kind === 'schedule') {
      yield* ended(event.timestamp);
      running = { task: event.task, since: event.timestamp };
      continue;
    }
    yield {
      name: event.kind,
      ph: 'i',
      s: 't',
      ts: microseconds(event.timestamp),
      pid: PID,
      tid: 'task' in event ? event.task : KERNEL_THREAD,
      args: argumentsOf(event),
    };
  }
  yield* ended(last);
}
