/** With fewer letters a label says nothing. */
const LEAST_LETTERS = 2;
/** Letters below which a cut label has no ellipsis. */
const SHORT = 5;

/** Texts that fit into boxes. Measuring a text costs more than drawing it, so widths are kept. */
export class Labels {
  readonly #context: CanvasRenderingContext2D;
  readonly #widths = new Map<string, number>();
  readonly #cut = new Map<string, string>();

  constructor(context: CanvasRenderingContext2D) {
    this.#context = context;
  }

  /** After the font has changed. */
  clear(): void {
    this.#widths.clear();
    this.#cut.clear();
  }

  /** As much of a text as fits into `width` pixels; empty if that says nothing. */
  fit(text: string, width: number): string {
    const full = this.#widthOf(text);
    if (full <= width) return text;
    const length = Math.floor((text.length * width) / full);
    if (length < LEAST_LETTERS) return '';
    const key = `${length} ${text}`;
    let cut = this.#cut.get(key);
    if (cut === undefined) {
      if (this.#cut.size > 20_000) this.#cut.clear();
      // Among few letters a sign for the missing ones would take the place of one.
      const isShort = length < SHORT;
      cut = isShort ? text.slice(0, length) : `${text.slice(0, length - 1)}…`;
      this.#cut.set(key, cut);
    }
    return cut;
  }

  #widthOf(text: string): number {
    let width = this.#widths.get(text);
    if (width === undefined) {
      if (this.#widths.size > 20_000) this.#widths.clear();
      // A name may be a megabyte long.
      const shown = text.length > 200 ? text.slice(0, 200) : text;
      width = (this.#context.measureText(shown).width * text.length) / Math.max(1, shown.length);
      this.#widths.set(text, width);
    }
    return width;
  }
}
