import { OTHER_COLOUR, PALETTE, colourOfText } from './palette.js';

/**
 * Colours of texts. The frequent ones have different colours: each has the colour that its text always has,
 * unless a more frequent one has that already. All others share one that none of these has: no legend could name them.
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
    return this.#colours.get(text) ?? OTHER_COLOUR;
  }
}
