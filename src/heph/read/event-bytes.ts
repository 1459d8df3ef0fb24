/** One event in memory, of which no more is known than where it begins and ends. */
export interface EventBytes {
  /** What is in memory; the event begins at `position`. */
  readonly bytes: Buffer;
  /** The same bytes. */
  readonly view: DataView;
  readonly position: number;
  /** Bytes of the event. */
  readonly size: number;
  /** Bytes of the file before the event. */
  readonly offset: number;
  /**
   * Decodes it.
   *
   * @throws TraceFormatError when its content is wrong.
   */
  packet(): unknown;
}
