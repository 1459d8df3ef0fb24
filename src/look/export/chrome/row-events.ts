import { exactMicroseconds, microseconds } from '../../../core/chrome-event.js';
import type { ChromeEvent } from '../../../core/chrome-event.js';
import type { PartTrack, RowProcess, RowTrack } from '../../../rows/row-batch.js';
import type { RowBuilder, RowReading } from '../../../rows/row-builder.js';
import { INSTANT_BIT, NO_RECORD } from '../../../rows/row-flags.js';

/** Of an instant; a slice has the kind of its track. */
const INSTANT_CATEGORY = 'event';

function metadata(
  name: string,
  { pid }: RowProcess,
  tid: number,
  args: Record<string, unknown>,
): ChromeEvent {
  return { name, ph: 'M', ts: 0, pid, tid, args };
}

/** Writes rows as Chrome's events. */
export class RowEvents {
  readonly #said = new Set<RowProcess | PartTrack>();

  /** The events of rows; times are those of the rows. */
  *of(reading: RowReading): Generator<ChromeEvent, void> {
    for (const batch of reading.batches()) {
      yield* this.#names(batch);
      yield* this.#rows(batch);
      for (const { process, thread: tid, name, times, values } of batch.counters) {
        for (const [i, time] of times.entries()) {
          const value = values[i]!;
          const ts = exactMicroseconds(time);
          yield { name, ph: 'C', ts, pid: process!.pid, tid, args: { value } };
        }
      }
    }
  }

  /** Names of processes and threads, before their first rows. */
  *#names({ tracks, counters }: RowBuilder): Generator<ChromeEvent, void> {
    for (const { process } of [...tracks, ...counters]) {
      if (process === undefined || this.#said.has(process)) continue;
      this.#said.add(process);
      yield metadata('process_name', process, 0, { name: process.name });
    }
    for (const track of tracks) {
      const { process, tid, label, below } = track;
      if (this.#said.has(track)) continue;
      this.#said.add(track);
      if (label !== undefined) yield metadata('thread_name', process, tid, { name: label });
      if (below === undefined) continue;
      yield metadata('thread_sort_index', process, tid, { sort_index: below });
    }
  }

  *#rows({ rows, names, tracks, from, openAttributes }: RowBuilder): Generator<ChromeEvent, void> {
    const texts = names.texts();
    const attributes = openAttributes();
    try {
      for (let row = 0; row < rows.count; row++) {
        const { process, tid, kind }: RowTrack = tracks[rows.track[row]!]!;
        const name = texts[rows.name[row]!]!;
        const isInstant = (rows.flags[row]! & INSTANT_BIT) !== 0;
        const ts = timeOf(rows.start[row]!, () => rows.startOf(row));
        const event: ChromeEvent = isInstant
          ? { name, ph: 'i', s: 't', cat: INSTANT_CATEGORY, ts, pid: process.pid, tid }
          : { name, ph: 'X', cat: kind, ts, dur: 0, pid: process.pid, tid };
        if (!isInstant) event.dur = timeOf(rows.duration[row]!, () => rows.durationOf(row));
        if (rows.place[row] !== NO_RECORD) {
          const args = attributes.at(from + rows.place[row]!);
          if (Object.keys(args).length > 0) event.args = args;
        }
        yield event;
      }
    } finally {
      attributes.close();
    }
  }
}

/** Microseconds of a time. @param exact where a double is not. */
function timeOf(time: number, exact: () => bigint): number {
  return Number.isSafeInteger(time) ? exactMicroseconds(time) : microseconds(exact());
}
