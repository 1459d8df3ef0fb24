import { RowCursor } from '../../src/export/row-cursor.js';
import type { PartTrack, RowOptions, RowProcess, RowReading } from '../../src/rows/row-batch.js';

/** What a picture has: a slice, an instant, a value of a counter, a name. Times are in microseconds. */
export interface PictureEvent {
  name: string;
  ph: 'X' | 'C' | 'M' | 'i';
  ts: number;
  dur?: number;
  pid: number;
  tid: number;
  cat?: string;
  args?: Record<string, unknown>;
}

type Said = Set<RowProcess | PartTrack>;

/** The rows of a trace by its own clock. */
export function* rowEvents(
  read: (path: string, options: RowOptions) => RowReading,
  path: string,
  options: Partial<RowOptions> = {},
): Generator<PictureEvent, void> {
  const said: Said = new Set();
  for (const batch of read(path, { zero: 0n, batchRows: 1 << 14, ...options }).batches()) {
    const described = (
      name: string,
      { pid }: RowProcess,
      tid: number,
      args: Record<string, unknown>,
    ): PictureEvent => ({ name, ph: 'M', ts: 0, pid, tid, args });
    for (const { process } of [...batch.tracks, ...batch.counters]) {
      if (process === undefined || said.has(process)) continue;
      said.add(process);
      yield described('process_name', process, 0, { name: process.name });
    }
    for (const track of batch.tracks) {
      if (said.has(track)) continue;
      said.add(track);
      const { process, tid, label } = track;
      if (label !== undefined) yield described('thread_name', process, tid, { name: label });
    }
    const rows = new RowCursor(batch, 0n);
    while (rows.next()) {
      const { process, tid, kind } = rows.track;
      const { name, isInstant } = rows;
      const ts = timeOf(rows.start, () => rows.exactStart);
      const where = { ts, pid: process.pid, tid };
      const event: PictureEvent = isInstant
        ? { name, ph: 'i', cat: 'event', ...where }
        : { name, ph: 'X', cat: kind, dur: 0, ...where };
      if (!isInstant) {
        event.dur = timeOf(rows.duration, () => rows.exactEnd - rows.exactStart);
      }
      const { attributes } = rows.record();
      if (Object.keys(attributes).length > 0) event.args = attributes;
      yield event;
    }
    rows.close();
    for (const { process, thread: tid, name, times, values } of batch.counters) {
      for (const [i, time] of times.entries()) {
        const args = { value: values[i]! };
        yield { name, ph: 'C', ts: time / 1000, pid: process!.pid, tid, args };
      }
    }
  }
}

/** Microseconds of a time. @param exact where a double is not. */
function timeOf(time: number, exact: () => bigint): number {
  return (Number.isSafeInteger(time) ? time : Number(exact())) / 1000;
}
