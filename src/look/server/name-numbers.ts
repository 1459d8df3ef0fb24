import type { IndexPart } from '../index/look-index.js';

/**
 * Numbers of names that hold for the whole recording. Each part has numbers of its own; a name gets
 * one here when it is first shown, so the page learns only names that it needs.
 */
export class NameNumbers {
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();
  /** By part and number there: the number of the recording, plus one. */
  readonly #ofParts = new WeakMap<IndexPart, Uint32Array>();
  #lastPart: IndexPart | undefined;
  #ofLastPart: Uint32Array = new Uint32Array(0);

  of(part: IndexPart, name: number): number {
    if (part !== this.#lastPart) {
      const known = this.#ofParts.get(part) ?? new Uint32Array(part.names.count);
      this.#ofParts.set(part, known);
      this.#lastPart = part;
      this.#ofLastPart = known;
    }
    const known = this.#ofLastPart;
    if (known[name] === 0) known[name] = this.#numberOf(part.names.text(name)) + 1;
    return known[name]! - 1;
  }

  #numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.texts.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }
}
