import { rowAt } from '../index/index-row.js';
import { MISSING_PARENT } from '../index/look-index.js';
import type { LookIndex } from '../index/look-index.js';
import { PAUSE_NAMES } from './interruption-kinds.js';
import type { Pause } from './interruptions.js';
import type { TreeRow } from './trace-shape.js';

/** Spans of one trace that are looked at. */
const MAX_SPANS = 100_000;
/** A child that runs on for this share of itself after the next one began came before that one. */
const OVERLAP = 0.05;

/** A span of a trace, for its tree. `target` is set by `nameTargets`; the pauses are those that are wanted. */
export interface TreeSpan extends Omit<
  TreeRow,
  'depth' | 'duration' | 'self' | 'waited' | 'repeated'
> {
  /** Number of the parent among the spans; -1: it has none, or it is not there. */
  parent: number;
  /** Ns. */
  end: number;
}

/** The spans of the trace of a row. */
interface TraceSpans {
  /** Their rows, and the spans in the same order. */
  rows: readonly number[];
  spans: TreeSpan[];
  /** Which of them is that of the row. */
  slow: number;
  /** How many spans the trace has. */
  all: number;
}

/** @param traceId null: the row belongs to no trace. */
export function traceSpans(index: LookIndex, row: number, traceId: string | null): TraceSpans {
  const all = traceId === null ? [row] : index.rowsOfTrace(traceId);
  const rows = all.slice(0, MAX_SPANS);
  const numbers = new Map(rows.map((each, at) => [each, at]));
  if (!numbers.has(row)) numbers.set(row, rows.push(row) - 1);
  return { rows, spans: spansAt(index, rows, numbers), slow: numbers.get(row)!, all: all.length };
}

/** Spans in the order of their rows. A parent that is not among them counts as none. */
export function spansOf(index: LookIndex, rows: readonly number[]): TreeSpan[] {
  return spansAt(index, rows, new Map(rows.map((each, at) => [each, at])));
}

function spansAt(
  index: LookIndex,
  rows: readonly number[],
  numbers: ReadonlyMap<number, number>,
): TreeSpan[] {
  return rows.map((each) => treeSpan(index, each, numbers));
}

function treeSpan(index: LookIndex, row: number, numbers: ReadonlyMap<number, number>): TreeSpan {
  const { parent, name, system, service, start, end, status, unfinished } = rowAt(index, row);
  return {
    kind: 'span',
    parent: numbers.get(parent) ?? -1,
    name,
    system,
    service,
    start,
    end,
    status,
    unfinished,
    missingParent: parent === MISSING_PARENT,
    target: null,
    stalls: 0,
    collections: 0,
  };
}

/** A pause of a called thread, as what a call waited for. */
export function spanOfPause(
  { kind, start, end }: Pause,
  parent: number,
  service: string | null,
): TreeSpan {
  return {
    kind,
    parent,
    name: PAUSE_NAMES[kind],
    system: null,
    service,
    start,
    end,
    status: 'unset',
    unfinished: false,
    missingParent: false,
    target: null,
    stalls: 0,
    collections: 0,
  };
}

/** Spans by their parents, ordered by start. A circle of parents is cut once. */
export class SpanFamily {
  readonly tops: number[] = [];
  readonly children: number[][];

  constructor(spans: readonly TreeSpan[]) {
    this.children = spans.map(() => []);
    const order = spans.map((_, at) => at).sort((a, b) => spans[a]!.start - spans[b]!.start);
    for (const at of order) {
      const { parent } = spans[at]!;
      (this.children[parent] ?? this.tops).push(at);
    }
    const reached = new Uint8Array(spans.length);
    for (const top of this.tops) this.#reach(top, reached);
    for (const at of order) {
      if (reached[at] === 1) continue;
      const cut = ancestorInCircle(at, spans);
      const siblings = this.children[spans[cut]!.parent]!;
      siblings.splice(siblings.indexOf(cut), 1);
      this.tops.push(cut);
      this.#reach(cut, reached);
    }
  }

  #reach(top: number, reached: Uint8Array): void {
    const waiting = [top];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      reached[at] = 1;
      for (const child of this.children[at]!) waiting.push(child);
    }
  }
}

/** The first ancestor of a span, or the span itself, that is among its own ancestors. */
function ancestorInCircle(at: number, spans: readonly TreeSpan[]): number {
  const passed = new Set<number>();
  let ancestor = at;
  while (!passed.has(ancestor)) {
    passed.add(ancestor);
    ancestor = spans[ancestor]!.parent;
  }
  return ancestor;
}

/** Ns of [start, end) in which none of the children, ordered by start, ran. */
export function selfTime(span: TreeSpan, children: readonly TreeSpan[]): number {
  let free = 0;
  let at = span.start;
  for (const { start, end } of children) {
    if (start >= span.end) break;
    if (start > at) free += start - at;
    if (end > at) at = end;
  }
  return free + Math.max(0, span.end - at);
}

/** A part of a span's time that another one above it waits for. */
interface AwaitedPart {
  at: number;
  /** Ns, and below. */
  from: number;
  to: number;
}

function partWithin(at: number, begin: number, end: number, from: number, to: number): AwaitedPart {
  return { at, from: Math.max(begin, from), to: Math.min(end, to) };
}

/**
 * What runs on after its parent has ended, by the span above that is open then: frameworks end a span, and go on below
 * it in the same request.
 */
function runningOn(spans: readonly TreeSpan[], { tops, children }: SpanFamily): AwaitedPart[][] {
  const parts: AwaitedPart[][] = spans.map(() => []);
  const waiting = [...tops];
  const above = new Int32Array(spans.length).fill(-1);
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { start, end } = spans[at]!;
    let from = start;
    for (let each = above[at]!; each !== -1 && spans[each]!.end < end; each = above[each]!) {
      from = Math.max(from, spans[each]!.end);
      const next = above[each]!;
      if (next === -1) break;
      const to = Math.min(end, spans[next]!.end);
      if (from < to) parts[next]!.push({ at, from, to });
    }
    for (const child of children[at]!) {
      above[child] = at;
      waiting.push(child);
    }
  }
  return parts;
}

/**
 * How long each span kept the one at the top waiting: from its end backwards, the time belongs to the child
 * that ended last, and to the span itself where none ran.
 */
export function waitedTimes(
  spans: readonly TreeSpan[],
  family: SpanFamily,
  top: number,
): Float64Array {
  const waited = new Float64Array(spans.length);
  const further = runningOn(spans, family);
  const { start, end } = spans[top]!;
  const path: AwaitedPart[] = [{ at: top, from: start, to: end }];
  for (let step = path.pop(); step !== undefined; step = path.pop()) {
    const { at, from, to } = step;
    const latest = [
      ...family.children[at]!.map((child) =>
        partWithin(child, spans[child]!.start, spans[child]!.end, from, to),
      ),
      ...further[at]!.map((part) => partWithin(part.at, part.from, part.to, from, to)),
    ].sort((a, b) => b.to - a.to || spans[a.at]!.start - spans[b.at]!.start);
    let now = to;
    for (const part of latest) {
      const length = part.to - part.from;
      if (length <= 0 || part.to - now > OVERLAP * length) continue;
      const until = Math.min(part.to, now);
      waited[at]! += now - until;
      path.push({ at: part.at, from: part.from, to: until });
      now = part.from;
    }
    waited[at]! += Math.max(0, now - from);
  }
  return waited;
}
