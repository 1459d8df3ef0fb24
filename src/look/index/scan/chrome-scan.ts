import { nanosecondsOf } from '../../../core/chrome-event.js';
import type { ChromeEvent } from '../../../core/chrome-event.js';
import { ByteTable } from './byte-table.js';
import { TraceTable } from './id-table.js';
import { INSTANT_BIT, NO_TEXT, NO_TRACE } from '../look-index.js';
import type { Source, Track } from '../look-index.js';
import { RowColumns } from './row-columns.js';
import type { PartTrack, ReadRows } from './read-rows.js';

/** Tracks of a source at most; further ones share the last. */
const MAX_TRACKS = 4096;
/** Slices of a track that are open at once. */
const MAX_DEPTH = 512;

/** A curve as it is read: see `Counter`. */
export interface ReadCounter {
  thread: number;
  name: string;
  unit: string;
  times: number[];
  values: number[];
}

/** A slice that has begun. */
interface OpenSlice {
  name: string;
  begin: number;
  args: Record<string, unknown> | undefined;
}

/** Turns the events that a format draws into rows, on tracks of their kind. */
export class ChromeScan implements ReadRows {
  readonly rows = new RowColumns();
  readonly names = new ByteTable();
  readonly traces = new TraceTable();
  readonly details = new ByteTable();
  readonly tracks: PartTrack[] = [];
  readonly counts = new Map<number, never>();
  readonly notes: number[] = [];
  readonly faulty = 0;
  readonly firstFaulty = 0;
  readonly counters: ReadCounter[] = [];
  readonly #format: Source['format'];
  readonly #trackOf = new Map<string, number>();
  readonly #processNames = new Map<number, string>();
  readonly #threadNames = new Map<string, string>();
  readonly #open = new Map<string, OpenSlice[]>();
  readonly #counterOf = new Map<string, ReadCounter>();
  #last = 0;

  constructor(format: Source['format']) {
    this.#format = format;
  }

  add(event: ChromeEvent): void {
    if (event.ph === 'M') {
      this.#note(event);
      return;
    }
    const time = nanosecondsOf(event.ts);
    const key = `${event.pid} ${event.tid}`;
    if (time > this.#last) this.#last = time;
    switch (event.ph) {
      case 'X':
        this.#row(event, time, nanosecondsOf(event.dur ?? 0), 0, event.args);
        break;
      case 'i':
        this.#row(event, time, 0, INSTANT_BIT, event.args);
        break;
      case 'C':
        this.#count(event, key, time);
        break;
      case 'B':
      case 'b': {
        const open = this.#open.get(event.id ?? key) ?? [];
        this.#open.set(event.id ?? key, open);
        if (open.length < MAX_DEPTH) open.push({ name: event.name, begin: time, args: event.args });
        break;
      }
      case 'E':
      case 'e': {
        const begun = this.#open.get(event.id ?? key)?.pop();
        if (begun === undefined) break;
        const ended = { ...event, name: begun.name };
        this.#row(ended, begun.begin, time - begun.begin, 0, begun.args);
        break;
      }
    }
  }

  /** Ends what is still open with the last event. */
  end(): void {
    for (const [key, open] of this.#open) {
      const [pid = 0, tid = 0] = key.split(' ').map(Number);
      for (const { name, begin, args } of open) {
        const event: ChromeEvent = { name, ph: 'X', ts: 0, pid, tid: Number.isNaN(tid) ? 0 : tid };
        this.#row(event, begin, this.#last - begin, 0, args);
      }
    }
    this.#open.clear();
  }

  #note({ name, pid, tid, args }: ChromeEvent): void {
    const value = args?.['name'];
    if (typeof value !== 'string') return;
    if (name === 'process_name') this.#processNames.set(pid, value);
    else if (name === 'thread_name') this.#threadNames.set(`${pid} ${tid}`, value);
  }

  #row(
    event: ChromeEvent,
    start: number,
    duration: number,
    flags: number,
    args: Record<string, unknown> | undefined,
  ): void {
    const { rows } = this;
    const row = rows.add();
    rows.start[row] = start;
    rows.duration[row] = Math.max(0, duration);
    rows.flags[row] = flags;
    rows.name[row] = this.names.numberOfText(event.name);
    rows.route[row] = NO_TEXT;
    rows.trace[row] = NO_TRACE;
    rows.track[row] = this.#track(event);
    rows.place[row] = this.details.numberOfText(args === undefined ? '{}' : JSON.stringify(args));
    rows.hashEnd[row] = rows.hashCount;
  }

  #track({ pid, tid, cat }: ChromeEvent): number {
    const key = `${pid} ${tid}`;
    const known = this.#trackOf.get(key);
    if (known !== undefined) return known;
    const isLast = this.tracks.length >= MAX_TRACKS - 1;
    const track = Math.min(this.tracks.length, MAX_TRACKS - 1);
    if (track === this.tracks.length) {
      this.tracks.push(
        isLast
          ? { kind: 'thread', name: 'further threads', thread: 0xffff_fffe }
          : this.#described(pid, tid, cat),
      );
    }
    this.#trackOf.set(key, track);
    return track;
  }

  #described(pid: number, tid: number, category: string | undefined): PartTrack {
    const process = this.#processNames.get(pid) ?? `process ${pid}`;
    const thread = this.#threadNames.get(`${pid} ${tid}`);
    const kind = this.#kind(category);
    if (kind === 'kernel') return { kind, name: `task ${tid}`, thread: tid };
    if (kind === 'rank') {
      const name = tid === 0 ? process : `${process}, thread ${tid}`;
      return { kind, name, thread: pid - 1 };
    }
    const several = this.#processNames.size > 1 ? `${process}, ` : '';
    return { kind, name: `${several}${thread ?? `thread ${tid}`}`, thread: tid };
  }

  #kind(category: string | undefined): Track['kind'] {
    if (this.#format === 'DUMPI') return 'rank';
    if (this.#format === 'Laplace') return 'kernel';
    return category === 'mark' ? 'mark' : 'states';
  }

  #count({ name, args, tid }: ChromeEvent, key: string, time: number): void {
    const value = args?.['value'];
    if (typeof value !== 'number') return;
    let counter = this.#counterOf.get(`${key} ${name}`);
    if (counter === undefined) {
      if (this.counters.length >= MAX_TRACKS) return;
      counter = { thread: tid, name, unit: '', times: [], values: [] };
      this.#counterOf.set(`${key} ${name}`, counter);
      this.counters.push(counter);
    }
    counter.times.push(time);
    counter.values.push(value);
  }
}
