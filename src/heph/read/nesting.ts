/** Spans that one level of a track remembers; the oldest are forgotten. */
const REMEMBERED = 64;
const MAX_DEPTH = 512;

interface Span {
  start: number;
  end: number;
  /** Spans inside it, in the order of time; undefined once they are no longer known. */
  inner: Span[] | undefined;
}

/**
 * Finds whether the spans of a track are nested or apart. A viewer draws only such spans of a track
 * correctly. It drops or misdraws a span that overlaps another in part.
 *
 * Meant for spans that come in the order of their ends (as a writer finishes them) or of their
 * starts. Memory is bounded: each level remembers only its latest spans. The inner spans of a span
 * are forgotten if it came after them, or once a neighbour follows it. A refused span may therefore
 * have fitted. An accepted span fits all that are remembered.
 */
export class Nesting {
  readonly #spans: Span[] = [];

  /** Adds the span when it fits, and says whether it did. */
  add(start: number, end: number): boolean {
    let level = this.#spans;
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      let to = level.length;
      while (to > 0 && level[to - 1]!.start >= end && level[to - 1]!.end > start) to--;
      // [from, to) are the spans of this level that the new one holds.
      let from = to;
      while (from > 0 && level[from - 1]!.start >= start && level[from - 1]!.end > start) {
        const other = level[from - 1]!;
        const same = other.start === start && other.end === end;
        if (other.end > end || (same && other.inner !== undefined)) break;
        from--;
      }
      const before = level[from - 1];
      if (before === undefined || before.end <= start) {
        if (before !== undefined) before.inner = undefined;
        level.splice(from, to - from, { start, end, inner: from === to ? [] : undefined });
        if (level.length > REMEMBERED) level.shift();
        return true;
      }
      // The one before reaches into the new span: it must hold it whole.
      const holds = before.start <= start && before.end >= end;
      if (!holds || from < to || before.inner === undefined) return false;
      level = before.inner;
    }
    return false;
  }
}
