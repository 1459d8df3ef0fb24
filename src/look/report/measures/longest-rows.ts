/** Keeps the longest of many: a heap with the shortest of them on top. */
export class LongestRows<T> {
  readonly #limit: number;
  readonly #heap: { length: number; value: T }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether `add` would keep something of this length. */
  admits(length: number): boolean {
    return this.#heap.length < this.#limit || length > (this.#heap[0]?.length ?? Infinity);
  }

  add(length: number, value: T): void {
    if (!this.admits(length)) return;
    const heap = this.#heap;
    if (heap.length < this.#limit) {
      heap.push({ length, value });
      this.#up(heap.length - 1);
    } else {
      heap[0] = { length, value };
      this.#down();
    }
  }

  /** The longest first. */
  get sorted(): { length: number; value: T }[] {
    return [...this.#heap].sort((a, b) => b.length - a.length);
  }

  #up(at: number): void {
    const heap = this.#heap;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (heap[above]!.length <= heap[at]!.length) return;
      [heap[above], heap[at]] = [heap[at]!, heap[above]!];
      at = above;
    }
  }

  #down(): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let least = at;
      if (left < heap.length && heap[left]!.length < heap[least]!.length) least = left;
      if (right < heap.length && heap[right]!.length < heap[least]!.length) least = right;
      if (least === at) return;
      [heap[least], heap[at]] = [heap[at]!, heap[least]!];
      at = least;
    }
  }
}
