import { LOOP_BUSY_CURVE } from '../../../spans/read/loop-curves.js';
import { POOLS } from '../../../spans/read/pool-names.js';
import { entryOf } from '../../../core/map-entries.js';
import { firstAtLeast } from '../../index/parts/first-at-least.js';
import { IndexRow, rowAt, rowsUpward } from '../../index/index-row.js';
import type { SpanRecord } from '../../../spans/span-record.js';
import type { Counter, LookIndex } from '../../index/look-index.js';
import { recordedSpan } from '../names/recorded-attributes.js';
import { isInterruption } from '../names/interruption-kinds.js';
import { codeText } from '../names/code-text.js';
import { rowName } from '../names/row-name.js';
import type { TreeSpan } from '../shape/trace-shape.js';
import type { InterruptionTally } from '../threads/interruptions.js';
import { codeOfStack, STACK } from '../threads/stall-code.js';
import { spanOfPause } from './span-family.js';

/** Between the times of a stall, of a loop's record and of a span, in ns. */
const CLOCK_ERROR = 1e6;
/** Of a stall's length, the loop may rest between it and the turn that is said to follow it. */
const MOST_IDLE = 0.05;
/** Stalls within one span that are looked at. */
const MOST_STALLS = 100;
const MOST_ANCESTORS = 64;
/** Spans that begin within a call and are looked at. */
const MOST_WITHIN = 64;

/** A stall, and what was to blame. */
interface Block {
  from: number;
  to: number;
  /** Who ends by then may have waited for it: the end of the turn after it. */
  until: number;
  /** `POST /coupon`; null: unknown, or the thread had no CPU. */
  blocker: string | null;
  /** The row of the request that ran; undefined: none is known. */
  request: IndexRow | undefined;
}

/** A span that has waited for a stall: its number, and when. */
interface BlockedSpan {
  at: number;
  /** The row of the stall. */
  stall: number;
  service: string | null;
  start: number;
  end: number;
  block: Block;
  /** The request of the span itself had the thread. */
  isOwn: boolean;
}

/**
 * Finds when spans waited because something else kept the event loop of their thread. A span that ended in the turn
 * after a stall did so: its answer had come, or came then. So did a call that reached its service only then. One that
 * ended later waited for something else.
 */
export class BlockedSpans {
  readonly #index: LookIndex;
  readonly #interruptions: InterruptionTally;
  /** By the row of the stall. */
  readonly #blocks = new Map<number, Block>();
  readonly #loops = new Map<string, Counter>();

  constructor(index: LookIndex, interruptions: InterruptionTally) {
    this.#index = index;
    this.#interruptions = interruptions;
    for (const counter of index.counters) {
      if (counter.name === LOOP_BUSY_CURVE) this.#loops.set(keyOf(counter), counter);
    }
  }

  /** Adds to the spans of some rows, below each of the innermost, what has blocked it. */
  addTo(rows: readonly number[], spans: TreeSpan[]): void {
    if (this.#interruptions.isEmpty) return;
    const numbers = new Map(rows.map((row, at) => [row, at]));
    const found: BlockedSpan[] = [];
    /** By the row of a stall: spans with one below them that it has blocked. */
    const above = new Map<number, Set<number>>();
    /** By the number of a call: when it reached its service. */
    const arrivals = new Map<number, number>();
    for (const [at, row] of rows.entries()) {
      const { parent, start } = spans[at]!;
      if (parent < 0 || !rowAt(this.#index, row).isRequest) continue;
      arrivals.set(parent, Math.min(start, arrivals.get(parent) ?? Infinity));
    }
    for (const at of rows.keys()) {
      for (const each of this.#blocksOf(rows[at]!, at, spans[at]!, arrivals.get(at))) {
        found.push(each);
        const passed = entryOf(above, each.stall, () => new Set<number>());
        let { parent } = spans[at]!;
        while (parent >= 0 && !passed.has(parent)) {
          passed.add(parent);
          parent = spans[parent]?.parent ?? -1;
        }
      }
    }
    for (const { at, stall, service, start, end, block, isOwn } of found) {
      if (above.get(stall)!.has(at)) continue;
      const pause = spanOfPause({ kind: 'stall', start, end }, at, service);
      pause.stall = stall;
      if (block.blocker !== null) {
        pause.kind = 'blocked';
        pause.name = `blocked by ${block.blocker}`;
      }
      if (isOwn) pause.runsFor = numbers.get(block.request!.row);
      spans.push(pause);
    }
  }

  *#blocksOf(
    row: number,
    at: number,
    span: TreeSpan,
    arrival = -Infinity,
  ): Generator<BlockedSpan, void> {
    const own = rowAt(this.#index, row);
    if (own.unfinished || own.isInstant || !this.#interruptions.hasAny(own.track)) return;
    let looked = 0;
    for (const stall of this.#interruptions.stalls(own.track, span.start, span.end)) {
      if (++looked > MOST_STALLS) return;
      if (stall.row === row) continue;
      const block = this.#blockOf(stall);
      const { request } = block;
      const hasArrived = own.isCall && arrival > block.to - CLOCK_ERROR && arrival <= block.until;
      if (span.end > block.until && !hasArrived) continue;
      const isOwn = request !== undefined && isBelow(this.#index, own, request);
      const mayBeOwn = request === undefined && span.end <= block.to;
      // The code of a request runs within its spans: only its calls, and waits for a pool, have waited for it.
      const mayWait =
        isOwn || mayBeOwn
          ? POOLS.has(span.name) || (own.isCall && !this.#isSynchronous(own, block))
          : request === undefined || !isBelow(this.#index, request, own);
      const start = Math.max(block.from, span.start, request?.start ?? span.start);
      const end = Math.min(block.to, span.end, request?.end ?? span.end);
      if (!mayWait || end <= start) continue;
      yield { at, stall: stall.row, service: own.service, start, end, block, isOwn };
    }
  }

  /** Whether a call within a turn kept the loop itself: nothing else of its thread began meanwhile. */
  #isSynchronous(call: IndexRow, { from, to }: Block): boolean {
    const { part, start, end } = call;
    if (start < from || end > to) return false;
    const last = Math.min(call.at + MOST_WITHIN, part.count - 1);
    for (let at = call.at + 1; at <= last; at++) {
      const other = new IndexRow(part, at);
      if (other.start >= end) break;
      if (isInterruption(other.name) || !this.#interruptions.isSameThread(other.track, call.track))
        continue;
      if (!isBelow(this.#index, other, call)) return false;
    }
    return true;
  }

  #blockOf(stall: IndexRow): Block {
    const known = this.#blocks.get(stall.row);
    if (known !== undefined) return known;
    const { track, start: from, end: to } = stall;
    const block = { from, to, until: this.#turnAfter(track, from, to), ...this.#blockerOf(stall) };
    this.#blocks.set(stall.row, block);
    return block;
  }

  #blockerOf({ row }: IndexRow): Pick<Block, 'blocker' | 'request'> {
    const span = recordedSpan(this.#index, row);
    if (span === undefined) return { blocker: null, request: undefined };
    const { name, request } = stalledRequest(this.#index, span);
    const { 'eventloop.cause': cause, [STACK]: stack } = span.attributes;
    // Who ran is not to blame.
    if (cause === 'held' || cause === 'stop') return { blocker: null, request };
    const code = codeOfStack(stack);
    return { blocker: name ?? (code === null ? null : codeText(code)), request };
  }

  /** When the turn after a stall ended: one that followed soon, as something waited. */
  #turnAfter(track: number, start: number, end: number): number {
    const loop = this.#loops.get(keyOf(this.#index.tracks[track]!));
    if (loop === undefined) return end + CLOCK_ERROR;
    const { times, values } = loop;
    const at = firstAtLeast(times, end - CLOCK_ERROR);
    const [begin, next] = [times[at], times[at + 1]];
    if (begin === undefined || next === undefined || begin > end + CLOCK_ERROR)
      return end + CLOCK_ERROR;
    const idle = (next - begin) * (1 - values[at]!);
    return CLOCK_ERROR + (idle < Math.max(CLOCK_ERROR, MOST_IDLE * (end - start)) ? next : end);
  }
}

/** The request whose code ran in a stall, and its row if it was kept. */
export function stalledRequest(
  index: LookIndex,
  { attributes, links: [link] }: SpanRecord,
): { name: string | null; request: IndexRow | undefined } {
  const { 'eventloop.request': recorded } = attributes;
  const rows = link === undefined ? [] : index.rowsOfTrace(link.traceId);
  const row = rows.find((each) => rowAt(index, each).spanId === link!.spanId);
  const name = typeof recorded === 'string' ? recorded : null;
  // The route may have been found later.
  return row === undefined
    ? { name, request: undefined }
    : { name: rowName(index, row), request: rowAt(index, row) };
}

function keyOf({ source, thread }: { source: number; thread: number }): string {
  return `${source}/${thread}`;
}

/** Whether a span is another one, or lies below it. */
function isBelow(index: LookIndex, span: IndexRow, other: IndexRow): boolean {
  for (const { row } of rowsUpward(index, span.row, MOST_ANCESTORS)) {
    if (row === other.row) return true;
  }
  return false;
}
