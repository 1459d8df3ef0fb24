/** What the traces take on disk: all of them, whatever part of them the report is about. */
export interface DiskCost {
  bytes: number;
  /** Bytes; null: there is no request, or the report is about a part of the recording. */
  perRequest: number | null;
  /** Bytes a day, as in the time that was recorded; null: nothing was. */
  perDay: number | null;
}
