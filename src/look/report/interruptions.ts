import type { IndexPart, Track } from '../index/look-index.js';
import type { GroupTally, Grouping } from './groups.js';
import { IntervalSet } from './interval-set.js';
import type { Interruption, Interruptions, SlowShare } from './report-shape.js';
import { IN_WINDOW } from './selection.js';
import type { RowSelection } from './selection.js';
import { threadKeys } from './thread-names.js';
import type { Steps } from '../index/turns.js';

/** As src/node/threads names them. */
const STALL = 'event loop blocked';
const COLLECTION_SPAN = /^gc (?:minor|major|incremental|weakcb)$/;
const COLLECTION_MARK = /garbage collection/i;
const STALL_MARK = /event loop blocked|stalls of/i;

/** Groups of which the slow spans are looked at. */
const MAX_SLOW_GROUPS = 50;

type Kind = 'stall' | 'collection';

/** Whether spans of this name are stalls or collections, which nobody has asked for. */
export function isInterruption(name: string): boolean {
  return kindOfSpan(name) !== undefined;
}

/** Whether a track of ovni has marks of stalls or collections. */
export function isInterruptionMark(track: Track): boolean {
  return kindOfMarks(track) !== undefined;
}

function kindOfSpan(name: string): Kind | undefined {
  if (name === STALL) return 'stall';
  return COLLECTION_SPAN.test(name) ? 'collection' : undefined;
}

function kindOfMarks({ kind, name }: Track): Kind | undefined {
  if (kind !== 'mark') return undefined;
  if (STALL_MARK.test(name)) return 'stall';
  return COLLECTION_MARK.test(name) ? 'collection' : undefined;
}

/** Whether a row is a span of Heph or a mark of ovni: the hook writes both. */
type Form = 'span' | 'mark';

/** What has fewer gaps: short collections are marks only, and a killed process leaves its stall as a span. */
const PREFERRED: Readonly<Record<Kind, Form>> = { stall: 'span', collection: 'mark' };

/** When a thread did not work. */
interface ThreadInterruptions {
  readonly byName: Record<Kind, Record<Form, Map<string, Interruption>>>;
  readonly stall: IntervalSet;
  readonly collection: IntervalSet;
  readonly either: IntervalSet;
}

/** Stalls of event loops and garbage collections within the window, by thread. */
export class InterruptionTally {
  readonly #selection: RowSelection;
  readonly #keys: readonly string[];
  readonly #byThread = new Map<string, ThreadInterruptions>();

  private constructor(selection: RowSelection) {
    this.#selection = selection;
    this.#keys = threadKeys(selection.index);
  }

  static *of(selection: RowSelection): Steps<InterruptionTally> {
    const tally = new InterruptionTally(selection);
    yield* tally.#add();
    return tally;
  }

  *#add(): Steps<void> {
    const selection = this.#selection;
    const { tracks } = selection.index;
    const ofTracks = tracks.map(kindOfMarks);
    const isThread = Uint8Array.from(tracks, ({ kind }) => (kind === 'thread' ? 1 : 0));
    for (const part of selection.index.parts) {
      yield;
      const marks = selection.marksOf(part);
      if (marks.length === 0) continue;
      const ofNames = kindsOfNames(part);
      // Names of a part are few as a rule: without one of ours its rows need no look.
      if (part.source.format !== 'ovni' && !ofNames.some((kind) => kind !== undefined)) continue;
      const { track, name } = part;
      for (let at = 0; at < marks.length; at++) {
        if ((marks[at]! & IN_WINDOW) === 0) continue;
        const own = track[at]!;
        const kind = isThread[own] === 1 ? ofNames[name[at]!] : ofTracks[own];
        if (kind !== undefined) this.#addRow(part, at, kind);
      }
    }
  }

  /** Time of a thread's stalls or collections in [start, end). */
  overlap(track: number, start: number, end: number): Record<Kind | 'either', number> {
    const own = this.#byThread.get(this.#keys[track]!);
    return {
      stall: own?.stall.overlap(start, end) ?? 0,
      collection: own?.collection.overlap(start, end) ?? 0,
      either: own?.either.overlap(start, end) ?? 0,
    };
  }

  *figures(grouping: Grouping): Steps<Interruptions> {
    const list = (kind: Kind): Interruption[] =>
      [...this.#ofAllThreads(kind).values()].sort((a, b) => b.total - a.total);
    return {
      stalls: list('stall'),
      collections: list('collection'),
      slow: this.#byThread.size === 0 ? [] : yield* this.#slow(grouping),
    };
  }

  /** By name. What a thread has as spans and as marks counts once. */
  #ofAllThreads(kind: Kind): Map<string, Interruption> {
    const all = new Map<string, Interruption>();
    for (const { byName } of this.#byThread.values()) {
      const { span, mark } = byName[kind];
      const preferred = PREFERRED[kind] === 'span' ? span : mark;
      const other = PREFERRED[kind] === 'span' ? mark : span;
      for (const { name, count, total, max } of (preferred.size > 0 ? preferred : other).values()) {
        const entry = all.get(name) ?? { name, count: 0, total: 0, max: 0 };
        all.set(name, entry);
        entry.count += count;
        entry.total += total;
        entry.max = Math.max(entry.max, max);
      }
    }
    return all;
  }

  #addRow(part: IndexPart, at: number, kind: Kind): void {
    const track = part.track[at]!;
    const name = part.names.text(part.name[at]!);
    const start = part.start[at]! + part.offset;
    const end = start + part.duration[at]!;
    const { from, to } = this.#selection.window;
    const own = this.#threadOf(track);
    const form = this.#selection.index.tracks[track]!.kind === 'mark' ? 'mark' : 'span';
    const byName = own.byName[kind][form];
    const entry = byName.get(name) ?? { name, count: 0, total: 0, max: 0 };
    byName.set(name, entry);
    entry.count++;
    entry.total += Math.min(end, to) - Math.max(start, from);
    entry.max = Math.max(entry.max, end - start);
    own[kind].add(start, end);
    own.either.add(start, end);
  }

  #threadOf(track: number): ThreadInterruptions {
    const key = this.#keys[track]!;
    let own = this.#byThread.get(key);
    if (own === undefined) {
      own = {
        byName: {
          stall: { span: new Map(), mark: new Map() },
          collection: { span: new Map(), mark: new Map() },
        },
        stall: new IntervalSet(),
        collection: new IntervalSet(),
        either: new IntervalSet(),
      };
      this.#byThread.set(key, own);
    }
    return own;
  }

  *#slow(grouping: Grouping): Steps<SlowShare[]> {
    const shares = new Map<GroupTally, SlowShare & { least: number }>();
    for (const group of grouping.tallies.slice(0, MAX_SLOW_GROUPS)) {
      const { name, service, durations } = group;
      if (isInterruption(name)) continue;
      const none = { count: 0, time: 0, stalls: 0, collections: 0, either: 0 };
      shares.set(group, { name, service, ...none, least: durations.percentile(95) });
    }
    const selection = this.#selection;
    for (const part of selection.index.parts) {
      yield;
      const { rows, groups } = grouping.rowsOf(part);
      if (rows.length === 0) continue;
      const { start, duration, offset, track } = part;
      for (let i = 0; i < rows.length; i++) {
        const at = rows[i]!;
        const share = shares.get(grouping.tally(groups[i]!));
        const length = duration[at]!;
        if (share === undefined || length < share.least) continue;
        const begin = start[at]! + offset;
        const { stall, collection, either } = this.overlap(track[at]!, begin, begin + length);
        share.count++;
        share.time += length;
        share.stalls += stall;
        share.collections += collection;
        share.either += either;
      }
    }
    return [...shares.values()].map(
      ({ name, service, count, time, stalls, collections, either }) => {
        return { name, service, count, time, stalls, collections, either };
      },
    );
  }
}

function kindsOfNames({ names }: IndexPart): (Kind | undefined)[] {
  return Array.from({ length: names.count }, (_, number) => kindOfSpan(names.text(number)));
}
