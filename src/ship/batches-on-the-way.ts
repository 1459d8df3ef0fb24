import type { BatchEnds } from './batch-ends.js';
import type { PlacedBatch } from './batch.js';
import type { Checkpoint } from './checkpoint.js';
import type { UnnamedFile } from './target.js';

/** A batch from when there is room for it until its arrival is noted. */
export interface SentBatch {
  batch: PlacedBatch;
  /** When it was ready, by `performance.now`. */
  since: number;
  /** The target has accepted it. */
  isTaken: boolean;
  /** It is stored. */
  isDone: boolean;
}

/** The batches of a target whose arrival is not noted, in the order in which they were read. */
export class BatchesOnTheWay {
  readonly #label: string;
  readonly #checkpoint: Checkpoint | undefined;
  /** Of a target that knows repeats: ends of batches. */
  readonly #ends: BatchEnds | undefined;
  readonly #batches: SentBatch[] = [];
  /** How many of them the target has not accepted. */
  inFlight = 0;

  constructor(label: string, checkpoint: Checkpoint | undefined, ends: BatchEnds | undefined) {
    this.#label = label;
    this.#checkpoint = checkpoint;
    this.#ends = ends;
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  /** Since when the first batch has waited that was not accepted, by `performance.now`. */
  get waitsSince(): number | undefined {
    return this.#batches.find(({ isTaken }) => !isTaken)?.since;
  }

  add(batch: PlacedBatch, since: number): SentBatch {
    const sent: SentBatch = { batch, since, isTaken: false, isDone: false };
    this.#batches.push(sent);
    this.inFlight++;
    return sent;
  }

  /** The target has accepted a batch. @param isStored whether it has stored it, too. */
  accept(sent: SentBatch, isStored: boolean): void {
    sent.isTaken = true;
    this.inFlight--;
    sent.isDone = isStored;
    // Only where its files go on is needed until it is stored.
    if (!isStored) sent.batch = { ...sent.batch, spans: [], producers: [], counters: [] };
    this.#noteArrived();
  }

  /** A target has stored everything that it has accepted, in files that get their names now. */
  noteStored(files: readonly UnnamedFile[]): void {
    // Never without them: files that no checkpoint lists are deleted at the next start.
    this.#checkpoint?.setUnnamed(this.#label, files);
    for (const sent of this.#batches) sent.isDone ||= sent.isTaken;
    this.#noteArrived();
    this.#checkpoint?.save();
  }

  /** Notes the positions of all batches before which nothing is on its way. */
  #noteArrived(): void {
    while (this.#batches[0]?.isDone === true) {
      const { batch } = this.#batches.shift()!;
      this.#checkpoint?.reach(this.#label, batch.positions);
      const last = batch.spans.at(-1);
      if (last === undefined || this.#ends === undefined) continue;
      const path = batch.producers.at(-1)!;
      this.#ends.reach(path, [last.thread, batch.counters.at(-1)!]);
      this.#checkpoint?.change(this.#label, path);
    }
    this.#checkpoint?.saveSoon();
  }
}
