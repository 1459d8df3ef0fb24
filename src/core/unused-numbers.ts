/**
 * Assigns numbers of which each is used once, for instance process ids of several traces in one
 * picture. In almost constant time, also if all want the same number.
 */
export class UnusedNumbers {
  /** For each used number a larger one, from which to search on. */
  readonly #next = new Map<number, number>();

  /** Uses the wanted number, or the lowest unused one above it. */
  take(wanted: number): number {
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
    this.#next.set(unused, unused + 1);
    return unused;
  }
}

/** Values by name. A repeated name gets a number: `name (2)`. In linear time, also if all have one name. */
export class NumberedNames {
  readonly values: Record<string, unknown> = {};
  isEmpty = true;
  /** By repeated name: the number that its next repetition tries first. */
  #numbers: Map<string, number> | undefined;

  /** @returns the name that the value has. */
  add(name: string, value: unknown): string {
    this.isEmpty = false;
    const unused = Object.hasOwn(this.values, name) ? this.#numbered(name) : name;
    if (unused === '__proto__') {
      // An assignment would set the prototype.
      Object.defineProperty(this.values, unused, { value, enumerable: true });
    } else {
      this.values[unused] = value;
    }
    return unused;
  }

  #numbered(name: string): string {
    this.#numbers ??= new Map();
    for (let number = this.#numbers.get(name) ?? 2; ; number++) {
      const unused = `${name} (${number})`;
      if (Object.hasOwn(this.values, unused)) continue;
      this.#numbers.set(name, number + 1);
      return unused;
    }
  }
}
