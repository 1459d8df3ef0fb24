/** With fewer letters a cut label says nothing. */
const LEAST_LETTERS = 3;
/** Letters below which a cut label has no ellipsis: it would cost one of three. */
const SHORT = 4;
const ELLIPSIS = '…';
/** Letters of a text that are looked at: a name may be a megabyte long. */
const MOST_LETTERS = 120;
/** Texts, and letters, whose widths are kept. */
const MOST_TEXTS = 5000;
const MOST_WIDTHS = 20_000;

/** Matches what a person sees as one letter: a flag, or a sign with accents or joined to others. */
const LETTER = /\p{RI}\p{RI}|.(?:[\p{M}\p{Emoji_Modifier}]|\u200d.)*/gsu;

/** A text and where its letters end. */
interface Measured {
  /** Width up to the end of each letter, in pixels. */
  edges: Float32Array;
  /** Characters of the text up to each letter. */
  ends: Uint32Array;
  isWhole: boolean;
  /** Cut texts by twice the number of letters; those with an ellipsis at one more. */
  cuts: (string | undefined)[];
}

/** Texts that fit into boxes. Measuring costs more than drawing, so the widths of letters are kept. */
export class Labels {
  readonly #context: CanvasRenderingContext2D;
  readonly #font: string;
  readonly #texts = new Map<string, Measured>();
  readonly #widths = new Map<string, number>();

  constructor(context: CanvasRenderingContext2D, font: string) {
    this.#context = context;
    this.#font = font;
  }

  /** After the fonts may have changed. */
  clear(): void {
    this.#texts.clear();
    this.#widths.clear();
  }

  /**
   * As much of a text as fits into `width` pixels; empty if that says nothing.
   *
   * @param prefix precedes it, and is never cut; it is shown alone where there is no room for both.
   */
  fit(text: string, width: number, prefix = ''): string {
    let room = width;
    for (const letter of prefix) room -= this.#widthOf(letter);
    const measured = this.#measured(text);
    const { edges, isWhole } = measured;
    const count = edges.length;
    if (isWhole && (count === 0 || edges[count - 1]! <= room)) return prefix + text;
    const fitting = lettersWithin(edges, room);
    if (fitting >= SHORT && !endsWord(text, measured.ends[fitting - 1]!)) {
      const before = lettersWithin(edges, room - this.#widthOf(ELLIPSIS));
      if (before >= LEAST_LETTERS) return prefix + this.#cut(text, measured, before, ELLIPSIS);
    }
    if (fitting >= LEAST_LETTERS) return prefix + this.#cut(text, measured, fitting, '');
    const bare = prefix.trimEnd();
    return bare !== '' && this.#widthOfAll(bare) <= width ? bare : '';
  }

  #cut(text: string, { ends, cuts }: Measured, letters: number, end: string): string {
    const cut = 2 * letters + end.length;
    return (cuts[cut] ??= text.slice(0, ends[letters - 1] ?? 0) + end);
  }

  #measured(text: string): Measured {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size >= MOST_TEXTS) this.#texts.clear();
    const edges: number[] = [];
    const ends: number[] = [];
    let width = 0;
    for (const { 0: letter, index } of text.slice(0, 8 * MOST_LETTERS).matchAll(LETTER)) {
      if (edges.length === MOST_LETTERS) break;
      width += this.#widthOf(letter);
      edges.push(width);
      ends.push(index + letter.length);
    }
    const measured: Measured = {
      edges: Float32Array.from(edges),
      ends: Uint32Array.from(ends),
      isWhole: (ends.at(-1) ?? 0) === text.length,
      cuts: [],
    };
    this.#texts.set(text, measured);
    return measured;
  }

  #widthOfAll(text: string): number {
    let width = 0;
    for (const letter of text) width += this.#widthOf(letter);
    return width;
  }

  #widthOf(letter: string): number {
    let width = this.#widths.get(letter);
    if (width === undefined) {
      if (this.#widths.size >= MOST_WIDTHS) this.#widths.clear();
      this.#context.font = this.#font;
      width = this.#context.measureText(letter).width;
      this.#widths.set(letter, width);
    }
    return width;
  }
}

/** Whether a cut there leaves whole words: `GET` of `GET /orders` needs no ellipsis. */
function endsWord(text: string, at: number): boolean {
  return text[at] === ' ' || text[at - 1] === ' ';
}

/** How many letters end within a width. */
function lettersWithin(edges: Float32Array, width: number): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (edges[middle]! <= width) low = middle + 1;
    else high = middle;
  }
  return low;
}
