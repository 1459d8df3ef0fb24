const SECOND = 1e9;
/** Kinds of failures that are told apart. */
const MOST_KINDS = 4096;

/** How many times the limit may be kept in a second that has more than the one before. */
const MOST = 1.5;
/** In a first second, one of so many above the limit is kept. */
const ABOVE = 4;

/** A second: how many wanted to be kept of each kind, and how many were. */
class Second {
  start = -Infinity;
  kept = 0;
  all = 0;
  readonly wanted = new Map<string, number>();
}

/**
 * How many of the traces that are kept for a reason a thread keeps in a second. Within the limit all are. In a second
 * that follows one above it, each kind gets an even part: rare ones all of theirs, frequent ones a share.
 */
export class KeepLimit {
  readonly #limit: number;
  #now = new Second();
  #last = new Second();
  /** Traces a second that each kind may have. */
  #part = Infinity;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * The share of a kind that is kept now: 1, or less.
   *
   * @param now nanoseconds.
   */
  shareOf(kind: string, now: number): number {
    if (this.#limit === Infinity) return 1;
    if (now - this.#now.start >= SECOND) this.#turn(now);
    const { wanted } = this.#now;
    const known = wanted.size < MOST_KINDS || wanted.has(kind) ? kind : '';
    const count = (wanted.get(known) ?? 0) + 1;
    wanted.set(known, count);
    const all = ++this.#now.all;
    // One of a kind is worth more than the hundred and first of another.
    if (count === 1) return 1;
    const { kept } = this.#now;
    const even = this.#limit / wanted.size;
    const little = this.#limit / (ABOVE * Math.max(all, this.#limit));
    if (this.#part === Infinity) return count <= even || kept < this.#limit ? 1 : little;
    const before = this.#last.wanted.get(known) ?? 0;
    if (before <= this.#part && count <= Math.max(even, this.#part)) return 1;
    const share = before <= this.#part ? little : this.#part / before;
    // There are more than a second ago.
    return kept >= MOST * this.#limit ? Math.min(share, little) : share;
  }

  /** A trace was kept. */
  noteKept(): void {
    this.#now.kept++;
  }

  #turn(now: number): void {
    const isNext = now - this.#now.start < 2 * SECOND;
    this.#last = isNext ? this.#now : new Second();
    this.#now = new Second();
    this.#now.start = now;
    const counts = [...this.#last.wanted.values()].sort((a, b) => a - b);
    const all = counts.reduce((sum, each) => sum + each, 0);
    this.#part = all <= this.#limit ? Infinity : evenPart(counts, this.#limit);
  }
}

/** The part that each gets so that all together get no more than the limit, and small ones all of theirs. */
function evenPart(ascending: readonly number[], limit: number): number {
  let left = limit;
  for (let i = 0; i < ascending.length; i++) {
    const part = left / (ascending.length - i);
    if (ascending[i]! > part) return part;
    left -= ascending[i]!;
  }
  return Infinity;
}
