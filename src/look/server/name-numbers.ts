import type { IndexPart } from '../index/look-index.js';

/**
 * Numbers of names that hold for the whole recording. Each part has numbers of its own; a name gets
 * one here when it is first shown, so the page learns only names that it needs.
 */
export class NameNumbers {
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();
  /** By part: number of the part, plus one, to number of the recording. */
  readonly #ofParts = new WeakMap<IndexPart, Map<number, number>>();

  of(part: IndexPart, name: number): number {
    let known = this.#ofParts.get(part);
    if (known === undefined) this.#ofParts.set(part, (known = new Map<number, number>()));
    let number = known.get(name);
    if (number === undefined) {
      number = this.#numberOf(part.names.text(name));
      known.set(name, number);
    }
    return number;
  }

  #numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.texts.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }
}
