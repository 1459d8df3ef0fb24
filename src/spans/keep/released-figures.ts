import { bucketOf, DurationCounts } from './released-counts.js';

/** What remains of spans of one name that were not kept, since the last record. */
export class ReleasedFigures {
  declare readonly name: string;
  declare readonly route: string;
  declare readonly kind: number;
  errors = 0;
  time = 0;
  readonly released = new DurationCounts();
  /** By bucket: how many were taken back. */
  readonly #owed = new Map<number, number>();

  constructor(name: string, route: string, kind: number) {
    this.name = name;
    this.route = route;
    this.kind = kind;
  }

  /** @param duration nanoseconds. */
  release(duration: number, failed: boolean): void {
    const { released } = this;
    released.counts[bucketOf(duration)]!++;
    released.count++;
    this.time += duration;
    if (failed) this.errors++;
  }

  /** One that was counted is kept after all. */
  takeBack(duration: number, failed: boolean): void {
    const bucket = bucketOf(duration);
    this.#owed.set(bucket, (this.#owed.get(bucket) ?? 0) + 1);
    this.time -= duration;
    if (failed) this.errors--;
  }

  /** Subtracts what was taken back. Those of which a record has gone out already are subtracted from the next ones. */
  settle(): void {
    const { counts } = this.released;
    for (const [bucket, owed] of this.#owed) {
      const now = Math.min(owed, counts[bucket]!);
      counts[bucket]! -= now;
      this.released.count -= now;
      if (now === owed) this.#owed.delete(bucket);
      else this.#owed.set(bucket, owed - now);
    }
  }

  clear(): void {
    this.errors = 0;
    this.time = 0;
    this.released.clear();
  }
}
