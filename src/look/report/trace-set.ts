import type { IndexPart } from '../index/look-index.js';

const WORDS = 4;

/** Counts traces that several parts may have, by their ids: a hash table with open addressing. */
export class TraceSet {
  readonly #slots: Uint32Array;
  readonly #mask: number;
  /** By trace, from 1. */
  readonly #ids: Uint32Array;
  readonly #incomplete: Uint8Array;
  seen = 0;
  incomplete = 0;

  /** @param most traces that are added, at most. */
  constructor(most: number) {
    const size = 2 ** Math.ceil(Math.log2(2 * Math.max(most, 1)));
    this.#slots = new Uint32Array(size);
    this.#mask = size - 1;
    this.#ids = new Uint32Array(WORDS * (most + 1));
    this.#incomplete = new Uint8Array(most + 1);
  }

  add({ traceIds }: IndexPart, trace: number, isIncomplete: boolean): void {
    const number = this.#find(traceIds, WORDS * trace);
    if (isIncomplete && this.#incomplete[number] === 0) {
      this.#incomplete[number] = 1;
      this.incomplete++;
    }
  }

  #find(ids: Uint32Array, at: number): number {
    const known = this.#ids;
    // Ids are random as a rule; those of an attacker may share words.
    let hash = ids[at]!;
    for (let word = 1; word < WORDS; word++) {
      hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) ^ ids[at + word]!;
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
    for (let slot = (hash ^ (hash >>> 15)) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const number = this.#slots[slot]!;
      if (number === 0) {
        this.#slots[slot] = ++this.seen;
        for (let word = 0; word < WORDS; word++) known[WORDS * this.seen + word] = ids[at + word]!;
        return this.seen;
      }
      const other = WORDS * number;
      if (
        known[other] === ids[at] &&
        known[other + 1] === ids[at + 1] &&
        known[other + 2] === ids[at + 2] &&
        known[other + 3] === ids[at + 3]
      ) {
        return number;
      }
    }
  }
}
