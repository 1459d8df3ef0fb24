import { jsonValue } from '../../core/json.js';
import type { JsonObject } from '../../core/json.js';
import { RowBuilder } from '../../rows/row-builder.js';
import type {
  AttributeReader,
  RowOptions,
  RowProcess,
  RowReading,
  RowTrack,
} from '../../rows/row-batch.js';
import { fieldsOf } from './dump.js';
import { KernelRecords, readKernelEvents } from './kernel-reader.js';

const KERNEL_THREAD = 0;
const MACHINE: RowProcess = { pid: 1, name: 'process 1' };

/**
 * The rows of a kernel trace. A task has the CPU from the time it is scheduled until another task is. Every
 * other record is an instant of its task. A timestamp counts as one nanosecond, the unit of Tracewright's
 * clock: the length of a cycle is unknown.
 *
 * @throws TraceFormatError at the first invalid line; the rows before it have been yielded.
 */
export function readKernelRows(path: string, options: RowOptions): RowReading {
  return { batches: () => batches(path, options) };
}

function* batches(path: string, options: RowOptions): Generator<RowBuilder, void> {
  const tracks = new Map<number, RowTrack>();
  const trackOf = (task: number): RowTrack => {
    let track = tracks.get(task);
    if (track === undefined) {
      track = { kind: 'kernel', name: `task ${task}`, thread: task, process: MACHINE, tid: task };
      tracks.set(task, track);
    }
    return track;
  };
  const newBatch = (offset: number): RowBuilder =>
    new RowBuilder(options, offset, () => recordFields(path));
  let batch = newBatch(0);
  let running: { task: number; since: bigint } | undefined;
  let last = 0n;
  let fault: { error: unknown } | undefined;
  const schedule = (next: typeof running): void => {
    if (running !== undefined) batch.add(trackOf(running.task), 'scheduled', running.since, last);
    running = next;
  };
  try {
    for (const event of readKernelEvents(path, { onProgress: options.onProgress })) {
      if (event.kind === 'end') continue;
      const { offset, timestamp } = event;
      if (batch.isFull) {
        yield batch;
        batch = newBatch(offset);
      }
      last = timestamp;
      if (event.kind === 'schedule') schedule({ task: event.task, since: timestamp });
      else {
        const task = 'task' in event ? event.task : KERNEL_THREAD;
        const name = event.kind === 'event' ? `event ${event.tag}` : event.kind;
        batch.addInstant(trackOf(task), name, timestamp, offset);
      }
    }
  } catch (error) {
    fault = { error };
  }
  schedule(undefined);
  yield batch;
  if (fault !== undefined) throw fault.error;
}

/** Makes a reader of the fields that only a row's record has. */
function recordFields(path: string): AttributeReader {
  const records = new KernelRecords(path);
  return {
    at(offset) {
      const event = records.at(offset);
      if (event.kind === 'end') return { attributes: {} };
      return { attributes: jsonValue(Object.fromEntries(fieldsOf(event))) as JsonObject };
    },
    close: () => {
      records.close();
    },
  };
}
