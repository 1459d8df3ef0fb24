import { addToList } from '../../core/map-entries.js';
import type { SpanRecord } from '../../spans/span-record.js';
import type { PictureTime } from '../perfetto/packet-writer.js';

/** Slices within each other on one lane, at most. */
const MAX_DEPTH = 256;

/** A span with its lane among those that are drawn with it. Times are nanoseconds since the zero of the file. */
export interface DrawnSpan {
  readonly span: SpanRecord;
  /** The zero of the file in the span's time. */
  readonly zero: bigint;
  readonly start: number;
  /** Never before `start`. */
  readonly end: number;
  /** The lane, counted from 0 within the group. */
  lane: number;
  /** The span that contains it on its lane. */
  within: DrawnSpan | undefined;
  /** The parent, if it is in the group. */
  parent: DrawnSpan | undefined;
  /** Whether the parent is in the group and on another lane: `childrenApart` of the parent has the span. */
  isApart: boolean;
  childrenApart: DrawnSpan[] | undefined;
}

/** Steps in the order in which they are written: `begin` of a span, or its end. */
interface Step {
  drawn: DrawnSpan;
  isEnd: boolean;
}

/** A group of spans dealt onto lanes. */
interface SpanLayout {
  /** In the order of time on each lane; an end follows those of the spans within it. */
  steps: Step[];
  /** Start and end of each lane. */
  lanes: { start: number; end: number }[];
}

/** A span before it is dealt. @param zero the moment that is the zero of the file, in the span's time. */
export function drawnSpan(span: SpanRecord, zero: bigint): DrawnSpan {
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
export function writtenStart({ span, zero, start }: DrawnSpan): PictureTime {
  return Number.isSafeInteger(start) ? start : span.start - zero;
}

/** The end, likewise. */
export function writtenEnd({ span, zero, end }: DrawnSpan): PictureTime {
  if (Number.isSafeInteger(end)) return end;
  return (span.end < span.start ? span.start : span.end) - zero;
}

function compare(a: DrawnSpan, b: DrawnSpan): number {
  return a.start - b.start || a.end - b.end;
}

/** The children of each span, and what is no child of another one. */
function familyOf(spans: readonly DrawnSpan[]): {
  roots: DrawnSpan[];
  children: Map<DrawnSpan, DrawnSpan[]>;
} {
  const byId = new Map<string, DrawnSpan>();
  for (const drawn of spans) {
    // Of spans that share an id by mistake the first one has the children.
    if (!byId.has(drawn.span.spanId)) byId.set(drawn.span.spanId, drawn);
  }
  const roots: DrawnSpan[] = [];
  const children = new Map<DrawnSpan, DrawnSpan[]>();
  for (const drawn of spans) {
    const { parentSpanId } = drawn.span;
    const parent = parentSpanId === undefined ? undefined : byId.get(parentSpanId);
    if (parent === undefined || parent === drawn) {
      roots.push(drawn);
      continue;
    }
    drawn.parent = parent;
    addToList(children, parent, drawn);
  }
  return { roots, children };
}

/** A span whose children are being dealt. */
interface Open {
  drawn: DrawnSpan;
  children: readonly DrawnSpan[];
  next: number;
  /** Where the last child on its own lane ends. */
  freeFrom: number;
  depth: number;
}

class Dealing {
  readonly steps: Step[] = [];
  readonly lanes: { start: number; end: number }[] = [];
  readonly #children: Map<DrawnSpan, DrawnSpan[]>;
  readonly #dealt = new Set<DrawnSpan>();

  constructor(children: Map<DrawnSpan, DrawnSpan[]>) {
    this.#children = children;
  }

  /** Deals a span and all that descends from it. */
  deal(root: DrawnSpan): void {
    if (this.#dealt.has(root)) return;
    const stack: Open[] = [this.#begin(root, undefined)];
    for (let open = stack.at(-1); open !== undefined; open = stack.at(-1)) {
      const child = open.children[open.next++];
      if (child === undefined) {
        stack.pop();
        this.steps.push({ drawn: open.drawn, isEnd: true });
      } else if (!this.#dealt.has(child)) {
        stack.push(this.#begin(child, open));
      }
    }
  }

  #begin(drawn: DrawnSpan, parent: Open | undefined): Open {
    this.#dealt.add(drawn);
    const { start, end } = drawn;
    const fits =
      parent !== undefined &&
      start >= parent.freeFrom &&
      end <= parent.drawn.end &&
      parent.depth < MAX_DEPTH;
    if (fits) {
      drawn.lane = parent.drawn.lane;
      drawn.within = parent.drawn;
      parent.freeFrom = end;
    } else {
      drawn.lane = this.#freeLane(start, end);
      if (parent !== undefined) {
        drawn.isApart = true;
        (parent.drawn.childrenApart ??= []).push(drawn);
      }
    }
    this.steps.push({ drawn, isEnd: false });
    const children = this.#children.get(drawn) ?? [];
    if (children.length > 1) children.sort(compare);
    return { drawn, children, next: 0, freeFrom: start, depth: fits ? parent.depth + 1 : 0 };
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
export function layOut(spans: readonly DrawnSpan[]): SpanLayout {
  const { roots, children } = familyOf(spans);
  const dealing = new Dealing(children);
  roots.sort(compare);
  for (const root of roots) dealing.deal(root);
  // What no root leads to is a cycle.
  for (const drawn of spans) dealing.deal(drawn);
  return { steps: dealing.steps, lanes: dealing.lanes };
}
