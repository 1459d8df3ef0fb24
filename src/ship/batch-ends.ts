/** The last span of a batch: its stream, and its counter in that. */
export type BatchEnd = readonly [stream: number, counter: number];

/**
 * By file, where batches ended that were sent and whose arrival is not noted. The next process ends its batches there,
 * too: so a target recognizes those that it has.
 */
export class BatchEnds {
  readonly #ends = new Map<string, BatchEnd[]>();

  /** Notes an end before the batch is sent. */
  add(path: string, end: BatchEnd): void {
    const ends = this.#ends.get(path);
    if (ends === undefined) this.#ends.set(path, [end]);
    else if (!isAmong(ends, end)) ends.push(end);
  }

  of(path: string): readonly BatchEnd[] {
    return this.#ends.get(path) ?? [];
  }

  /** Forgets an end that a target has, and all before it. */
  reach(path: string, [stream, counter]: BatchEnd): void {
    const ends = this.#ends.get(path);
    if (ends === undefined) return;
    const at = ends.findIndex((end) => end[0] === stream && end[1] === counter);
    if (at === ends.length - 1) this.#ends.delete(path);
    else ends.splice(0, at + 1);
  }

  forget(path: string): void {
    this.#ends.delete(path);
  }

  toJSON(): unknown {
    return Object.fromEntries(this.#ends);
  }

  /** Adds what `toJSON` has written; leaves out what is something else. */
  read(json: unknown): void {
    if (typeof json !== 'object' || json === null) return;
    for (const [path, ends] of Object.entries(json)) {
      if (!Array.isArray(ends)) continue;
      for (const end of ends as unknown[]) if (isEnd(end)) this.add(path, end);
    }
  }
}

/** Whether a span is the last one of a batch. */
export function isAmong(ends: readonly BatchEnd[], [stream, counter]: BatchEnd): boolean {
  return ends.some((end) => end[0] === stream && end[1] === counter);
}

function isEnd(value: unknown): value is BatchEnd {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger);
}
