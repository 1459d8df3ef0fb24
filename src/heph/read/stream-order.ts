import type { EventPacket } from '../packet.js';

/** Counts of the events of one stream of one sender, since it was first seen. */
export interface StreamCounts {
  /** Events that were yielded. */
  received: number;
  /** Counters that were passed over: these events have not come, and each that still comes is subtracted. */
  missing: number;
  /** Events that came again, which were not yielded. */
  duplicates: number;
  /** Times that the stream's counter has begun anew with its process. */
  restarts: number;
}

const COUNTERS = 2 ** 32;

/** Different, almost surely, for two events that have the same counter in two runs of a program. */
function markOf({ start, end, size }: EventPacket): number {
  return Number(start) * 3 + Number(end) + size;
}

/**
 * Puts the events of one stream in the order of their counters. It holds at most `window` events that came too
 * early, and knows the last `window` gaps, and the marks of the last `window` events.
 *
 * A position is a counter that does not wrap.
 */
export class StreamOrder {
  readonly counts: StreamCounts = { received: 0, missing: 0, duplicates: 0, restarts: 0 };
  /** Bytes of the packets that are held. */
  heldBytes = 0;
  readonly #window: number;
  /** By position. */
  readonly #held = new Map<number, EventPacket>();
  readonly #marks: Float64Array;
  /** Positions that were passed over, in their order. */
  #gaps: { from: number; to: number }[] = [];
  #next: number | undefined;

  constructor(window: number) {
    this.#window = window;
    this.#marks = new Float64Array(window).fill(NaN);
  }

  /**
   * Takes an event, and adds to `out` what can be yielded now.
   *
   * @param inOrder it came over a connection. What is earlier there was sent again.
   * @returns false: the event is of another run of the program, and was not taken.
   */
  take(event: EventPacket, out: EventPacket[], inOrder: boolean): boolean {
    const { counter } = event;
    // The first events of a stream may overtake each other, too.
    this.#next ??= counter < this.#window ? 0 : counter;
    // A counter wraps at 2^32.
    const position = this.#next + ((counter - (this.#next % COUNTERS)) | 0);
    if (position < this.#next) return this.#takeEarlier(event, position, out, inOrder);
    const before = this.#held.get(position);
    if (before !== undefined) {
      if (markOf(before) !== markOf(event)) return false;
      this.counts.duplicates++;
      return true;
    }
    this.#held.set(position, event);
    this.heldBytes += event.size;
    this.#yieldRun(out);
    if (inOrder) this.release(out);
    else if (this.#held.size > this.#window) this.#passGap(out);
    return true;
  }

  /** Yields all that is held, though events before it are missing. */
  release(out: EventPacket[]): void {
    while (this.#held.size > 0) this.#passGap(out);
  }

  /** What follows has counters of its own: the process of the sender has begun anew. */
  begin(out: EventPacket[]): void {
    if (this.#next === undefined) return;
    this.release(out);
    this.counts.restarts++;
    this.#next = undefined;
    this.#gaps = [];
    this.#marks.fill(NaN);
  }

  #takeEarlier(
    event: EventPacket,
    position: number,
    out: EventPacket[],
    inOrder: boolean,
  ): boolean {
    const isKnown = this.#next! - position <= this.#window;
    const mark = isKnown ? this.#marks[this.#slotOf(position)]! : NaN;
    const wasMissing = this.#closeGap(position);
    if (wasMissing || (isKnown && Number.isNaN(mark))) {
      if (isKnown) this.#marks[this.#slotOf(position)] = markOf(event);
      if (wasMissing) this.counts.missing--;
      this.counts.received++;
      out.push(event);
      return true;
    }
    const isSame = isKnown ? mark === markOf(event) : event.counter >= this.#window;
    if (!inOrder && !isSame) return false;
    this.counts.duplicates++;
    return true;
  }

  /** Below 0 lies what came before the first event that was seen. */
  #slotOf(position: number): number {
    return ((position % this.#window) + this.#window) % this.#window;
  }

  /** Takes a position out of the gaps; whether it was in one. */
  #closeGap(position: number): boolean {
    const at = this.#gaps.findLastIndex(({ from, to }) => from <= position && position < to);
    const gap = this.#gaps[at];
    if (gap === undefined) return false;
    const parts = [
      { from: gap.from, to: position },
      { from: position + 1, to: gap.to },
    ];
    this.#gaps.splice(at, 1, ...parts.filter(({ from, to }) => from < to));
    if (this.#gaps.length > this.#window) this.#gaps.shift();
    return true;
  }

  #yieldRun(out: EventPacket[]): void {
    for (;;) {
      const next = this.#next!;
      const event = this.#held.get(next);
      if (event === undefined) return;
      this.#held.delete(next);
      this.heldBytes -= event.size;
      this.#marks[this.#slotOf(next)] = markOf(event);
      this.#next = next + 1;
      this.counts.received++;
      out.push(event);
    }
  }

  /** Passes over the events that are missing before the earliest that is held. */
  #passGap(out: EventPacket[]): void {
    const from = this.#next!;
    let to = Infinity;
    for (const position of this.#held.keys()) to = Math.min(to, position);
    const unmarked = Math.max(from, to - this.#window);
    for (let position = unmarked; position < to; position++) {
      this.#marks[this.#slotOf(position)] = NaN;
    }
    this.#gaps.push({ from, to });
    if (this.#gaps.length > this.#window) this.#gaps.shift();
    this.counts.missing += to - from;
    this.#next = to;
    this.#yieldRun(out);
  }
}
