import { IndexRow, rowAt } from '../../index/index-row.js';
import { SERVER } from '../../../spans/layout.js';
import { KIND_MASK } from '../../index/look-index.js';
import type { IndexPart, LookIndex, Source } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import type { InterruptionTally, Pause } from '../threads/interruptions.js';
import { IN_WINDOW } from '../measures/selection.js';
import type { RowSelection } from '../measures/selection.js';
import { spanOfPause } from './span-family.js';
import type { TreeSpan } from '../shape/trace-shape.js';

/** Requests of one call that are looked at: it may have been repeated. */
const MOST_REQUESTS = 8;

/** A call to another process that met a stall or a collection there. Times are ns of the index. */
interface Call {
  /** The request that the call caused, and its track. */
  row: number;
  track: number;
  service: string | null;
  /** The call, without what the clocks of the two hosts leave open at its ends. */
  from: number;
  to: number;
  /** The request. */
  begin: number;
  end: number;
}

/**
 * Calls to other processes whose threads were stalled or collected garbage meanwhile. A call of a blocked
 * event loop waits before its request begins there, or after that has ended.
 */
export class CalledThreads {
  readonly #interruptions: InterruptionTally;
  /** By the row of the client span. */
  readonly #calls = new Map<number, Call[]>();

  private constructor(interruptions: InterruptionTally) {
    this.#interruptions = interruptions;
  }

  static *of(selection: RowSelection, interruptions: InterruptionTally): Steps<CalledThreads> {
    const called = new CalledThreads(interruptions);
    const { index } = selection;
    if (index.sources.length > 1 && !interruptions.isEmpty) yield* called.#add(selection);
    return called;
  }

  /** The rows of the client spans. */
  get rows(): Iterable<number> {
    return this.#calls.keys();
  }

  /** When the called threads were interrupted during a call: before, during and after the request. */
  pausesDuring(row: number): Pause[] {
    return (this.#calls.get(row) ?? []).flatMap(({ track, from, to, begin, end }) =>
      this.#interruptions.pauses(track, Math.min(from, begin), Math.max(to, end)),
    );
  }

  /** Adds to the spans of some rows, below each call, what interrupted the called thread while no request ran. */
  addPauses(rows: readonly number[], spans: TreeSpan[]): void {
    if (this.#calls.size === 0) return;
    for (const [at, row] of rows.entries()) {
      const calls = this.#calls.get(row);
      if (calls === undefined) continue;
      for (const { track, service, from, to } of gapsOf(calls)) {
        for (const pause of this.#interruptions.pauses(track, from, to)) {
          spans.push(spanOfPause(pause, at, service));
        }
      }
    }
  }

  /** Requests with the time in which their thread could have read them: before they began. */
  *unreadRequests(): Generator<{ row: number; track: number; from: number; to: number }, void> {
    for (const calls of this.#calls.values()) {
      for (const { row, track, from, begin } of calls) yield { row, track, from, to: begin };
    }
  }

  *#add(selection: RowSelection): Steps<void> {
    const { index } = selection;
    const interrupted = Uint8Array.from(index.tracks, ({ number }) =>
      this.#interruptions.hasAny(number) ? 1 : 0,
    );
    const sources = new Set(
      index.tracks.filter(({ number }) => interrupted[number] === 1).map(({ source }) => source),
    );
    for (const part of index.parts) {
      yield;
      if (!sources.has(part.source.number)) continue;
      const marks = selection.marksOf(part);
      const { flags, track } = part;
      for (let at = 0; at < marks.length; at++) {
        if ((flags[at]! & KIND_MASK) !== SERVER || (marks[at]! & IN_WINDOW) === 0) continue;
        if (interrupted[track[at]!] === 1) this.#addRequest(index, part, at);
      }
    }
  }

  #addRequest(index: LookIndex, part: IndexPart, at: number): void {
    const request = new IndexRow(part, at);
    const { parent, track, start: begin, end } = request;
    if (parent < 0 || (parent >= part.firstRow && parent < part.firstRow + part.count)) return;
    const caller = rowAt(index, parent);
    if (caller.part.source === part.source || !caller.isCall) return;
    if (this.#interruptions.isSameThread(track, caller.track)) return;
    const error = clockErrorBetween(caller.part.source, part.source);
    // A request that begins before its call: nobody knows how far the clocks are apart.
    if (error === undefined || begin < caller.start) return;
    const [from, to] = [caller.start + error, caller.end - error];
    const [first, last] = [Math.min(from, begin), Math.max(to, end)];
    if (this.#interruptions.overlap(track, first, last).either === 0) return;
    const calls = this.#calls.get(parent) ?? [];
    if (calls.length === MOST_REQUESTS) return;
    calls.push({ row: request.row, track, service: request.service, from, to, begin, end });
    this.#calls.set(parent, calls);
  }
}

/** Between the ends of a call and its requests. What lies between two requests is the way to the second. */
function* gapsOf(
  calls: readonly Call[],
): Generator<Pick<Call, 'track' | 'service' | 'from' | 'to'>> {
  const inOrder = [...calls].sort((a, b) => a.begin - b.begin);
  let since = -Infinity;
  for (const { track, service, from, begin, end } of inOrder) {
    yield { track, service, from: Math.max(from, since), to: begin };
    since = Math.max(since, end);
  }
  const last = inOrder.reduce((latest, call) => (call.end > latest.end ? call : latest));
  yield { track: last.track, service: last.service, from: last.end, to: last.to };
}

/** Ns by which the clocks of two sources differ at most; undefined: nobody knows. */
function clockErrorBetween(one: Source, other: Source): number | undefined {
  if (one.host === other.host) return 0;
  if (one.clockError === undefined || other.clockError === undefined) return undefined;
  return one.clockError + other.clockError;
}
