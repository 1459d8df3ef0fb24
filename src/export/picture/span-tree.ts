import type { SpanRecord } from '../../spans/span-record.js';
import type { PictureTime } from './canvas.js';

/** Slices within each other on one lane, at most. */
const MAX_DEPTH = 256;

/** A span with its place among those that are drawn with it. Times are nanoseconds since the zero of the file. */
export interface PlacedSpan {
  readonly span: SpanRecord;
  /** The zero of the file in the span's time. */
  readonly zero: bigint;
  readonly start: number;
  /** Never before `start`. */
  readonly end: number;
  /** The lane, counted from 0 within the group. */
  lane: number;
  /** The span that contains it on its lane. */
  within: PlacedSpan | undefined;
  /** The parent, if it is in the group. */
  parent: PlacedSpan | undefined;
  /** Whether the parent is in the group and on another lane: `childrenApart` of the parent has the span. */
  isApart: boolean;
  childrenApart: PlacedSpan[] | undefined;
}

/** What is written, in this order: `begin` of a span, or its end. */
export interface Step {
  placed: PlacedSpan;
  isEnd: boolean;
}

/** A group of spans dealt onto lanes. */
export interface SpanLayout {
  /** In the order of time on each lane; an end follows those of the spans within it. */
  steps: Step[];
  /** Start and end of each lane. */
  lanes: { start: number; end: number }[];
}

/** A span before it is dealt. @param zero the moment that is the zero of the file, in the span's time. */
export function placedSpan(span: SpanRecord, zero: bigint): PlacedSpan {
  // What began long before all others is drawn from their start on.
  const start = Math.max(0, Number(span.start - zero));
  return {
    span,
    zero,
    start,
    end: Math.max(start, Number(span.end - zero)),
    lane: 0,
    within: undefined,
    parent: undefined,
    isApart: false,
    childrenApart: undefined,
  };
}

/** The start as it is written: with all of its digits. */
export function writtenStart({ span, zero, start }: PlacedSpan): PictureTime {
  return Number.isSafeInteger(start) ? start : span.start - zero;
}

/** The end, likewise. */
export function writtenEnd({ span, zero, end }: PlacedSpan): PictureTime {
  if (Number.isSafeInteger(end)) return end;
  return (span.end < span.start ? span.start : span.end) - zero;
}

function compare(a: PlacedSpan, b: PlacedSpan): number {
  return a.start - b.start || a.end - b.end;
}

/** The children of each span, and what is no child of another one. */
function familyOf(spans: readonly PlacedSpan[]): {
  roots: PlacedSpan[];
  children: Map<PlacedSpan, PlacedSpan[]>;
} {
  const byId = new Map<string, PlacedSpan>();
  for (const placed of spans) {
    // Of spans that share an id by mistake the first one has the children.
    if (!byId.has(placed.span.spanId)) byId.set(placed.span.spanId, placed);
  }
  const roots: PlacedSpan[] = [];
  const children = new Map<PlacedSpan, PlacedSpan[]>();
  for (const placed of spans) {
    const { parentSpanId } = placed.span;
    const parent = parentSpanId === undefined ? undefined : byId.get(parentSpanId);
    if (parent === undefined || parent === placed) {
      roots.push(placed);
      continue;
    }
    placed.parent = parent;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [placed]);
    else siblings.push(placed);
  }
  return { roots, children };
}

/** A span whose children are being dealt. */
interface Open {
  placed: PlacedSpan;
  children: readonly PlacedSpan[];
  next: number;
  /** Where the last child on its own lane ends. */
  freeFrom: number;
  depth: number;
}

class Dealing {
  readonly steps: Step[] = [];
  readonly lanes: { start: number; end: number }[] = [];
  readonly #children: Map<PlacedSpan, PlacedSpan[]>;
  readonly #dealt = new Set<PlacedSpan>();

  constructor(children: Map<PlacedSpan, PlacedSpan[]>) {
    this.#children = children;
  }

  /** Deals a span and all that descends from it. */
  deal(root: PlacedSpan): void {
    if (this.#dealt.has(root)) return;
    const stack: Open[] = [this.#begin(root, undefined)];
    for (let open = stack.at(-1); open !== undefined; open = stack.at(-1)) {
      const child = open.children[open.next++];
      if (child === undefined) {
        stack.pop();
        this.steps.push({ placed: open.placed, isEnd: true });
      } else if (!this.#dealt.has(child)) {
        stack.push(this.#begin(child, open));
      }
    }
  }

  #begin(placed: PlacedSpan, parent: Open | undefined): Open {
    this.#dealt.add(placed);
    const { start, end } = placed;
    const fits =
      parent !== undefined &&
      start >= parent.freeFrom &&
      end <= parent.placed.end &&
      parent.depth < MAX_DEPTH;
    if (fits) {
      placed.lane = parent.placed.lane;
      placed.within = parent.placed;
      parent.freeFrom = end;
    } else {
      placed.lane = this.#freeLane(start, end);
      if (parent !== undefined) {
        placed.isApart = true;
        (parent.placed.childrenApart ??= []).push(placed);
      }
    }
    this.steps.push({ placed, isEnd: false });
    const children = this.#children.get(placed) ?? [];
    if (children.length > 1) children.sort(compare);
    return { placed, children, next: 0, freeFrom: start, depth: fits ? parent.depth + 1 : 0 };
  }

  #freeLane(start: number, end: number): number {
    const { lanes } = this;
    // Few spans of a trace run at the same time; what finds no lane among the latest gets a new one.
    for (let i = Math.max(0, lanes.length - 64); i < lanes.length; i++) {
      const lane = lanes[i]!;
      if (lane.end <= start) {
        lane.end = end;
        return i;
      }
    }
    lanes.push({ start, end });
    return lanes.length - 1;
  }
}

/**
 * Deals spans onto lanes: children lie within their parent where time allows it, on the lane of the
 * parent; the others get a lane of their own. A cycle of parents begins at one of its spans.
 */
export function layOut(spans: readonly PlacedSpan[]): SpanLayout {
  const { roots, children } = familyOf(spans);
  const dealing = new Dealing(children);
  roots.sort(compare);
  for (const root of roots) dealing.deal(root);
  // What no root leads to is a cycle.
  for (const placed of spans) dealing.deal(placed);
  return { steps: dealing.steps, lanes: dealing.lanes };
}
