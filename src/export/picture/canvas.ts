/** Nanoseconds since the zero of the picture: a bigint where a double has not all of their digits. */
export type PictureTime = number | bigint;

/** The unit of a counter: one that viewers know, or a name. */
export type CounterUnit = 'ns' | 'count' | 'bytes' | (string & {});

/** Writes what is drawn in the form of one viewer. Tracks are numbers that it gives. */
export interface Canvas {
  /** Slices, instants and values of counters so far. */
  readonly events: number;
  /** Whether `take` has a chunk. */
  readonly isFull: boolean;
  /** The bytes since the last call. */
  take(): Buffer;
  /** The last bytes. */
  end(): Buffer;
  /** Says which moment the zero is, in nanoseconds since 1970. */
  clock(zero: bigint): void;
  processTrack(pid: number, name: string, labels: readonly string[]): number;
  threadTrack(process: number, pid: number, tid: number, name: string): number;
  /** A lane below a track. */
  namedTrack(parent: number, name: string): number;
  counterTrack(process: number, name: string, unit: CounterUnit): number;
  /** Begins an event: `annotate` and `flow` add to it, `endEvent` ends its description. */
  beginEvent(
    isInstant: boolean,
    track: number,
    time: PictureTime,
    name: string,
    category: string,
  ): void;
  /** Adds a value with its name: text, number, boolean, null, bigint, an array or an object of them. */
  annotate(name: string, value: unknown): void;
  /** Adds 64 bits, which are shown in hexadecimal digits. */
  annotateId(name: string, high: number, low: number): void;
  /** Connects the event with the others that have the same number. */
  flow(high: number, low: number): void;
  endEvent(): void;
  /** Ends the slice of the track that began last. */
  endSlice(track: number, time: PictureTime): void;
  counter(track: number, time: number, value: number): void;
}
