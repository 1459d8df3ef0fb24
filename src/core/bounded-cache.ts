/**
 * Values that are costly to compute, by their text. It keeps at most `size` of those asked for lately, and of
 * texts no longer than `maxLength`.
 */
export class BoundedCache<Value> {
  readonly #compute: (text: string) => Value;
  readonly #maxLength: number;
  readonly #half: number;
  readonly #drop: ((value: Value) => void) | undefined;
  /** Values that were asked for lately, and those before. A value that is found in the old half moves. */
  #recent = new Map<string, Value>();
  #old = new Map<string, Value>();

  /** @param drop called with each value that is kept no longer. */
  constructor(
    size: number,
    maxLength: number,
    compute: (text: string) => Value,
    drop?: (value: Value) => void,
  ) {
    this.#half = Math.ceil(size / 2);
    this.#maxLength = maxLength;
    this.#compute = compute;
    this.#drop = drop;
  }

  /** How many values it keeps. */
  get size(): number {
    return this.#recent.size + this.#old.size;
  }

  of(text: string): Value {
    const known = this.#recent.get(text);
    if (known !== undefined) return known;
    const value = this.#old.get(text) ?? this.#compute(text);
    if (text.length > this.#maxLength) return value;
    this.#old.delete(text);
    if (this.#recent.size >= this.#half) {
      if (this.#drop !== undefined) this.#old.forEach(this.#drop);
      this.#old = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(text, value);
    return value;
  }
}
