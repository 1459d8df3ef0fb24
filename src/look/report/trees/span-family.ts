import { addToList } from '../../../core/map-entries.js';
import { rowAt } from '../../index/index-row.js';
import { MISSING_PARENT, REMOTE_PARENT_BIT } from '../../index/look-index.js';
import type { LookIndex } from '../../index/look-index.js';
import { PAUSE_NAMES } from '../names/interruption-kinds.js';
import type { Pause } from '../threads/interruptions.js';
import type { TreeSpan } from '../shape/trace-shape.js';

/** Spans of one trace that are looked at. */
const MAX_SPANS = 100_000;
/** A child that runs on for this share of itself after the next one began came before that one. */
const OVERLAP = 0.05;
/** Ancestors at most that a span is followed to after its parent has ended: bounds the work for hostile traces. */
const MAX_ANCESTORS = 64;

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
  const { parent, name, system, service, start, end, status, unfinished, flags } = rowAt(
    index,
    row,
  );
  return {
    kind: 'span',
    parent: numbers.get(parent) ?? -1,
    isRemote: (flags & REMOTE_PARENT_BIT) !== 0,
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
    isRemote: true,
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

/** A span, from when on it ran below another one. */
interface Below {
  at: number;
  from: number;
}

/** Spans by their parents, ordered by start. A circle of parents is cut once. */
export class SpanFamily {
  readonly tops: number[] = [];
  readonly children: number[][];
  /** Spans that ran on below an ancestor when their parents had ended, as those of a callback do. */
  readonly #outliving = new Map<number, Below[]>();

  constructor(spans: readonly TreeSpan[]) {
    this.children = spans.map(() => []);
    const parents = Int32Array.from(spans, ({ parent }) => (parent < spans.length ? parent : -1));
    const order = spans.map((_, at) => at).sort((a, b) => spans[a]!.start - spans[b]!.start);
    for (const at of order) (this.children[parents[at]!] ?? this.tops).push(at);
    const reached = new Uint8Array(spans.length);
    for (const top of this.tops) this.#reach(top, reached);
    for (const at of order) {
      if (reached[at] === 1) continue;
      const cut = ancestorInCircle(at, spans);
      const siblings = this.children[parents[cut]!]!;
      siblings.splice(siblings.indexOf(cut), 1);
      parents[cut] = -1;
      this.tops.push(cut);
      this.#reach(cut, reached);
    }
    for (const at of order) if (parents[at] !== -1) this.#follow(at, spans, parents);
  }

  #reach(top: number, reached: Uint8Array): void {
    const waiting = [top];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      reached[at] = 1;
      for (const child of this.children[at]!) waiting.push(child);
    }
  }

  /** Finds the ancestors below which a span ran on when its parent had ended. */
  #follow(at: number, spans: readonly TreeSpan[], parents: Int32Array): void {
    const { start, end } = spans[at]!;
    let last = at;
    let from = start;
    for (let step = 0; step < MAX_ANCESTORS; step++) {
      // Who asks another process or sends a message waits for no longer than its own span.
      if (spans[last]!.isRemote) return;
      const above = parents[last]!;
      if (above === -1) return;
      const { end: until } = spans[above]!;
      if (last !== at && until > from) addToList(this.#outliving, above, { at, from });
      if (until >= end) return;
      from = Math.max(from, until);
      last = above;
    }
  }

  /** The times in which something ran below a span, in their order. */
  below(at: number, spans: readonly TreeSpan[]): Below[] {
    const children = this.children[at]!.map((child) => ({ at: child, from: spans[child]!.start }));
    const outliving = this.#outliving.get(at);
    if (outliving === undefined) return children;
    return [...children, ...outliving].sort((a, b) => a.from - b.from);
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

/** Ns of a span in which nothing ran below it, whether or not the parent of that had ended. */
export function selfTime(at: number, spans: readonly TreeSpan[], family: SpanFamily): number {
  const span = spans[at]!;
  let free = 0;
  let until = span.start;
  for (const { at: below, from } of family.below(at, spans)) {
    if (from >= span.end) break;
    if (from > until) free += from - until;
    until = Math.max(until, spans[below]!.end);
  }
  return free + Math.max(0, span.end - until);
}

/**
 * How long each span kept the one at the top waiting: from its end backwards, the time belongs to what ran below it and
 * ended last, and to the span itself where nothing ran.
 */
export function waitedTimes(
  spans: readonly TreeSpan[],
  family: SpanFamily,
  top: number,
): Float64Array {
  const waited = new Float64Array(spans.length);
  const { start, end } = spans[top]!;
  const path = [{ at: top, from: start, to: end }];
  for (let step = path.pop(); step !== undefined; step = path.pop()) {
    const { at, from, to } = step;
    const ends = (below: number): number => Math.min(spans[below]!.end, to);
    const latest = family
      .below(at, spans)
      .sort((a, b) => ends(b.at) - ends(a.at) || a.from - b.from);
    let now = to;
    for (const { at: below, from: begun } of latest) {
      const begin = Math.max(begun, from);
      const end = ends(below);
      if (begin >= end || end - now > OVERLAP * (end - begin)) continue;
      const until = Math.min(end, now);
      waited[at]! += now - until;
      path.push({ at: below, from: begin, to: until });
      now = begin;
    }
    waited[at]! += Math.max(0, now - from);
  }
  for (const [at, { runsFor }] of spans.entries()) {
    if (runsFor === undefined) continue;
    waited[runsFor]! += waited[at]!;
    waited[at] = 0;
  }
  return waited;
}
