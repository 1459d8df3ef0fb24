import { microseconds } from '../../core/chrome-event.js';
import type { ChromeEvent } from '../../core/chrome-event.js';
import type { Progress } from '../../core/finding.js';
import { callObject, nanosecondsOf } from './dump.js';
import { CallCursor } from './reader.js';
import type { CallRecord } from './reader.js';
import { readSections } from './section-reader.js';

const CATEGORY = 'dumpi';
/** The files of a run end with their rank. */
const RANK_IN_NAME = /-(\d{4,10})\.bin$/;
/** Process ids begin with 1. */
const FIRST_PID = 1;

/** Options of a conversion. */
export interface ChromeOptions {
  onProgress?: Progress;
}

/**
 * Turns a rank's trace into events for chrome://tracing and Perfetto: the rank is a process, its
 * threads are threads, calls are complete events and traced functions are begun and ended. Times are
 * microseconds of the wall clock, or of the CPU time where a call has no other; calls without times
 * are left out.
 *
 * @throws TraceFormatError where the file is not as the format says; the events before that have been
 *   yielded.
 */
export function* chromeEvents(
  path: string,
  options: ChromeOptions = {},
): Generator<ChromeEvent, void> {
  const sections = readSections(path, options);
  const rank = RANK_IN_NAME.exec(path)?.[1];
  const pid = FIRST_PID + Number(rank ?? 0);
  const name = rank === undefined ? `DUMPI ${path}` : `MPI rank ${Number(rank)}`;
  yield { name: 'process_name', ph: 'M', ts: 0, pid, tid: 0, args: { name } };
  const functionNames = new Map(
    sections.functionNames.map(({ address, name: text }) => [address, text]),
  );
  const cursor = CallCursor.ofTrace(sections, options);
  try {
    for (let call = cursor.next(); call !== undefined; call = cursor.next()) {
      const event = eventOf(call, pid, functionNames);
      if (event !== undefined) yield event;
    }
  } finally {
    cursor.close();
  }
}

function eventOf(
  call: CallRecord,
  pid: number,
  functionNames: ReadonlyMap<bigint, string>,
): ChromeEvent | undefined {
  const times = call.wall ?? call.cpu;
  if (times === undefined) return undefined;
  const start = nanosecondsOf(times.start);
  const stop = nanosecondsOf(times.stop);
  const ts = microseconds(start);
  const tid = call.thread ?? 0;
  if (call.name === 'Function_enter' || call.name === 'Function_exit') {
    const address = call.fields.fn;
    const name = functionNames.get(address) ?? `0x${address.toString(16)}`;
    const ph = call.name === 'Function_enter' ? 'B' : 'E';
    return { name, cat: CATEGORY, ph, ts, pid, tid };
  }
  const dur = stop > start ? microseconds(stop - start) : 0;
  const args = callObject(call)['fields'] as Record<string, unknown>;
  return { name: call.name, cat: CATEGORY, ph: 'X', ts, dur, pid, tid, args };
}

/** The earliest time of a trace in nanoseconds of its clock: that of its first call. */
export function firstTime(path: string): bigint | undefined {
  const cursor = CallCursor.ofTrace(readSections(path));
  try {
    const call = cursor.next();
    const times = call?.wall ?? call?.cpu;
    return times === undefined ? undefined : nanosecondsOf(times.start);
  } finally {
    cursor.close();
  }
}
