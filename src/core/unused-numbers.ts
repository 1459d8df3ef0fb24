/**
 * Assigns numbers of which each is used once, for instance process ids of several traces in one
 * picture. In almost constant time, also if all want the same number.
 */
export class UnusedNumbers {
  /** For each used number a larger one, from which to search on. */
  readonly #next = new Map<number, number>();

  /** Marks a number as used. */
  use(number: number): void {
    if (!this.#next.has(number)) this.#next.set(number, number + 1);
  }

  /** The wanted number, or the lowest unused one above it. */
  find(wanted: number): number {
    let unused = wanted;
    for (let next = this.#next.get(unused); next !== undefined; next = this.#next.get(unused)) {
      unused = next;
    }
    // Shortens the path for the next search.
    for (let at = wanted; at !== unused;) {
      const next = this.#next.get(at)!;
      this.#next.set(at, unused);
      at = next;
    }
    return unused;
  }
}
