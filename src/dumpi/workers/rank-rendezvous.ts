import { wrongOrder } from '../../core/errors.js';

/** Fields of the memory that the ranks share. */
const RANKS = 0;
const ARRIVED = 1;
const COMPLETED = 2;
/** The first rank that has ended. */
const ENDED = 3;
/** The field that sleepers wait on: it changes when all ranks have arrived, and when a rank ends. */
const CHANGES = 4;
const FIELDS = 5;
const NONE = -1;

/** Where the ranks of a run, each a thread, wait for each other. */
export class RankRendezvous {
  /** Shared memory, from which the other threads make their own `RankRendezvous`. */
  readonly state: Int32Array;

  constructor(state?: Int32Array) {
    this.state =
      state ?? new Int32Array(new SharedArrayBuffer(FIELDS * Int32Array.BYTES_PER_ELEMENT));
    if (state === undefined) this.state[ENDED] = NONE;
  }

  /** Ranks that have been made. */
  get ranks(): number {
    return Atomics.load(this.state, RANKS);
  }

  /** Counts one more rank. */
  addRank(): void {
    Atomics.add(this.state, RANKS, 1);
  }

  /** Notes that a rank has ended, and wakes the ranks that wait for it. */
  endRank(rank: number): void {
    if (Atomics.compareExchange(this.state, ENDED, NONE, rank) === NONE) this.#wake();
  }

  /**
   * Blocks until every rank has called this.
   *
   * @param call the call that waits, for errors.
   * @throws TracewrightError `ERR_ORDER` when a rank has ended that has not arrived.
   */
  wait(call: string, rank: number): void {
    const { state } = this;
    this.#checkEnded(call, rank);
    const number = Atomics.load(state, COMPLETED);
    if (Atomics.add(state, ARRIVED, 1) + 1 >= this.ranks) {
      Atomics.store(state, ARRIVED, 0);
      Atomics.add(state, COMPLETED, 1);
      this.#wake();
      return;
    }
    for (;;) {
      const changes = Atomics.load(state, CHANGES);
      // First: a rank that was here may have ended since.
      if (Atomics.load(state, COMPLETED) !== number) return;
      this.#checkEnded(call, rank);
      Atomics.wait(state, CHANGES, changes);
    }
  }

  #wake(): void {
    Atomics.add(this.state, CHANGES, 1);
    Atomics.notify(this.state, CHANGES);
  }

  #checkEnded(call: string, rank: number): void {
    const ended = Atomics.load(this.state, ENDED);
    if (ended !== NONE) {
      throw wrongOrder(call, `rank ${rank} would wait for rank ${ended}, which has ended`);
    }
  }
}
