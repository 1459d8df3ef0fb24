/** Rows that the time line shows lit, while all others are dimmed: matches of a search, for example. */
export interface LitRows {
  /** Undefined: nothing is dimmed. */
  rows: ReadonlySet<number> | undefined;
  /** Where rows begin that are lit: shares of the whole recording, from 0 to 1. */
  marks: readonly number[];
  /** The search that has found all of them; undefined: it has not ended. */
  text: string | undefined;
}

export const NOTHING_LIT: LitRows = { rows: undefined, marks: [], text: undefined };
