import { wrongOrder } from '../../core/errors.js';

/** Fields of the memory that the ranks share. */
const RANKS = 0;
const ARRIVED = 1;
const MEETINGS = 2;
/** The first rank that has ended. */
const GONE = 3;
/** What sleepers wait on: it changes with each meeting, and when a rank ends. */
const NEWS = 4;
const FIELDS = 5;
const NOBODY = -1;

/** Where the ranks of a run, each a thread, wait for each other. */
export class Meeting {
  /** What the other threads make their own `Meeting` of. */
  readonly state: Int32Array;

  constructor(state?: Int32Array) {
    this.state =
      state ?? new Int32Array(new SharedArrayBuffer(FIELDS * Int32Array.BYTES_PER_ELEMENT));
    if (state === undefined) this.state[GONE] = NOBODY;
  }

  /** How many ranks have been made. */
  get ranks(): number {
    return Atomics.load(this.state, RANKS);
  }

  /** There is one more rank. */
  join(): void {
    Atomics.add(this.state, RANKS, 1);
  }

  /** A rank has ended, and who waits for it must hear of that. */
  leave(rank: number): void {
    if (Atomics.compareExchange(this.state, GONE, NOBODY, rank) === NOBODY) this.#tell();
  }

  /**
   * Blocks until every rank is here.
   *
   * @param call the call that meets, for errors.
   * @throws TracewrightError `ERR_ORDER` when a rank has ended that is not here.
   */
  meet(call: string, rank: number): void {
    const { state } = this;
    this.#checkAll(call, rank);
    const number = Atomics.load(state, MEETINGS);
    if (Atomics.add(state, ARRIVED, 1) + 1 >= this.ranks) {
      Atomics.store(state, ARRIVED, 0);
      Atomics.add(state, MEETINGS, 1);
      this.#tell();
      return;
    }
    for (;;) {
      const news = Atomics.load(state, NEWS);
      // What is over is over, even if a rank that was here has ended since.
      if (Atomics.load(state, MEETINGS) !== number) return;
      this.#checkAll(call, rank);
      Atomics.wait(state, NEWS, news);
    }
  }

  #tell(): void {
    Atomics.add(this.state, NEWS, 1);
    Atomics.notify(this.state, NEWS);
  }

  #checkAll(call: string, rank: number): void {
    const gone = Atomics.load(this.state, GONE);
    if (gone !== NOBODY) {
      throw wrongOrder(call, `rank ${rank} would wait for rank ${gone}, which has ended`);
    }
  }
}
