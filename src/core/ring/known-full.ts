/** Questions that are answered from memory before the core is asked again. */
const ANSWERS = 256;

/**
 * Remembers that a ring had no room, as long as its tail stays where it was. An event that is dropped
 * then makes no call to the core, which would cost more than the event.
 */
export class KnownFull {
  /** The tail's two halves, in the ring's control page. */
  readonly #tail: Uint32Array;
  #first = 0;
  #second = 0;
  /** The bytes that did not fit; infinite: nothing is known. */
  #bytes = Infinity;
  #answers = 0;

  constructor(buffer: ArrayBuffer, tailOffset: number) {
    this.#tail = new Uint32Array(buffer, tailOffset, 2);
  }

  /** Whether `bytes` do not fit, by what is known. */
  isFor(bytes: number): boolean {
    if (bytes < this.#bytes) return false;
    if (this.#answers === 0 || this.#tail[0] !== this.#first || this.#tail[1] !== this.#second) {
      this.#bytes = Infinity;
      return false;
    }
    this.#answers -= 1;
    return true;
  }

  /** Before the core is asked: the tail that its answer will be of, or an earlier one. */
  beforeAsking(): void {
    this.#first = this.#tail[0]!;
    this.#second = this.#tail[1]!;
    this.#bytes = Infinity;
  }

  /**
   * The core has answered that `bytes` do not fit.
   *
   * @param free what is free by head and tail. With room the answer has another reason, such as a budget,
   *   which can end while the tail stays.
   */
  note(bytes: number, free: number): void {
    if (free >= bytes) return;
    this.#bytes = bytes;
    this.#answers = ANSWERS;
  }
}
