import { PALETTE, colourOfText } from './palette.js';

/**
 * Colours of texts. The frequent ones have different colours: each has the colour that its text always has,
 * unless a more frequent one has that already. Of the others several share a colour.
 */
export class AssignedColours {
  readonly #colours = new Map<string, string>();

  /** @param frequent the most frequent first. */
  constructor(frequent: readonly string[]) {
    const free = new Set<string>(PALETTE);
    for (const text of frequent.slice(0, PALETTE.length)) {
      const own = colourOfText(text);
      const colour = free.has(own) ? own : [...free][0]!;
      free.delete(colour);
      this.#colours.set(text, colour);
    }
  }

  of(text: string): string {
    let colour = this.#colours.get(text);
    if (colour === undefined) this.#colours.set(text, (colour = colourOfText(text)));
    return colour;
  }
}
