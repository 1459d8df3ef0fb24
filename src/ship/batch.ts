import type { SpanRecord } from '../spans/span-record.js';
import type { SpanPosition } from '../spans/read/span-follower.js';
import type { ShipBatch } from './target.js';

/** A batch, and where its files go on after it. */
export interface PlacedBatch extends ShipBatch {
  /** By file: the position after its last span in the batch. */
  readonly positions: ReadonlyMap<string, SpanPosition>;
  /** Bytes that its spans take in their files. */
  readonly bytes: number;
}

/** Spans of a batch at most. Those of a few batches are all that the heap must hold. */
const MOST_SPANS = 2000;
/** Bytes that they take in their files: an encoded batch stays below a megabyte. */
const MOST_BYTES = 350_000;

/** Collects spans until they are a batch. */
export class BatchBuilder {
  #spans: SpanRecord[] = [];
  #producers: string[] = [];
  #counters: number[] = [];
  #bytes = 0;
  #positions = new Map<string, SpanPosition>();

  add(span: SpanRecord, producer: string, counter: number, bytes: number): void {
    this.#spans.push(span);
    this.#producers.push(producer);
    this.#counters.push(counter);
    this.#bytes += bytes;
  }

  /** Notes where a file goes on after what was added. */
  reach(path: string, position: SpanPosition): void {
    this.#positions.set(path, position);
  }

  get isFull(): boolean {
    return this.#spans.length >= MOST_SPANS || this.#bytes >= MOST_BYTES;
  }

  /** The batch, which may have no span; begins anew. Undefined: nothing was added and no file has moved. */
  take(): PlacedBatch | undefined {
    if (this.#spans.length === 0 && this.#positions.size === 0) return undefined;
    const batch = {
      spans: this.#spans,
      producers: this.#producers,
      counters: this.#counters,
      positions: this.#positions,
      bytes: this.#bytes,
    };
    this.#spans = [];
    this.#producers = [];
    this.#counters = [];
    this.#bytes = 0;
    this.#positions = new Map();
    return batch;
  }
}

/** Both halves of a batch of two spans or more. */
export function halvesOf({ spans, producers, counters }: ShipBatch): [ShipBatch, ShipBatch] {
  const middle = spans.length >> 1;
  const part = (from: number, to?: number): ShipBatch => ({
    spans: spans.slice(from, to),
    producers: producers.slice(from, to),
    counters: counters.slice(from, to),
  });
  return [part(0, middle), part(middle)];
}
