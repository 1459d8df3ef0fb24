import type { InterruptionKind } from '../../look/report/names/interruption-kinds.js';

/**
 * Colours of boxes. Paul Tol's "light" scheme: distinct with every kind of colour blindness, and light
 * enough for dark text in both themes.
 */
export const PALETTE = [
  '#77aadd',
  '#ee8866',
  '#eedd88',
  '#ffaabb',
  '#99ddff',
  '#44bb99',
  '#bbcc33',
  '#cccc77',
  '#c3a5e1',
] as const;

/** Of texts that have no colour of their own. */
export const OTHER_COLOUR = '#c8ccd0';

const mixtures = new Map<string, string>();

/** Of a box of many spans, the longest of which has a colour (`#rrggbb`): the others may have any. */
export function mixed(colour: string): string {
  const known = mixtures.get(colour);
  if (known !== undefined) return known;
  const mean = [1, 3, 5].map((at) => {
    const [own, other] = [colour, OTHER_COLOUR].map((each) => parseInt(each.slice(at, at + 2), 16));
    return Math.round((own! + other!) / 2)
      .toString(16)
      .padStart(2, '0');
  });
  const mixture = `#${mean.join('')}`;
  mixtures.set(colour, mixture);
  return mixture;
}

/** Of errors, unset and good ones. An error has a bar as well, because a colour alone says nothing. */
export const STATUS_COLOURS = ['#77aadd', '#44bb99', '#ee8866'] as const;

/** Of text in a box. */
export const INK = '#101418';

/** The same for the same text in every recording: FNV-1a. */
export function colourOfText(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return PALETTE[(hash >>> 7) % PALETTE.length]!;
}

/** Of an interruption: it has a colour of its own. As HTML has it. */
export function cssColour(kind: InterruptionKind): string {
  return `var(--${kind})`;
}

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
