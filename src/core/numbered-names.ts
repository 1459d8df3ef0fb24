/** Values by name. A repeated name gets a number: `name (2)`. In linear time, also if all have one name. */
export class NumberedNames {
  readonly values: Record<string, unknown> = {};
  isEmpty = true;
  /** By repeated name: the number that its next repetition tries first. */
  #numbers: Map<string, number> | undefined;

  add(name: string, value: unknown): void {
    this.isEmpty = false;
    const unused = Object.hasOwn(this.values, name) ? this.#numbered(name) : name;
    if (unused === '__proto__') {
      // An assignment would set the prototype.
      Object.defineProperty(this.values, unused, { value, enumerable: true });
    } else {
      this.values[unused] = value;
    }
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
