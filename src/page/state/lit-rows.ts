/** Rows that the time line shows lit, while all others are dimmed: matches of a search, for example. */
export interface LitRows {
  /** Undefined: nothing is dimmed. */
  rows: ReadonlySet<number> | undefined;
  /** Their starts in ns, ascending: marks in the overview, and in boxes that merge many rows. */
  times: Float64Array;
}

export const NOTHING_LIT: LitRows = { rows: undefined, times: new Float64Array(0) };
