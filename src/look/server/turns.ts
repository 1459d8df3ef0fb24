/** Time for which work about all rows keeps the event loop, in ms. */
const TURN_MS = 10;

/** Lets the server answer other questions now and then. */
export class Turns {
  #until = performance.now() + TURN_MS;

  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** After the next turn of the event loop, if this one has lasted for long enough. */
  async next(): Promise<void> {
    if (!this.isOver) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#until = performance.now() + TURN_MS;
  }
}
