/** A profiler of V8 in the calling thread: what it has sampled is taken again and again, and when the thread ends. */
export class V8Profile {
  readonly #timer: NodeJS.Timeout;
  readonly #take: (all: boolean) => void;
  readonly #stop: () => void;

  /**
   * @param everyMs what a kill may lose.
   * @param take records what there is; `all`: also what is not worth it yet.
   */
  constructor(everyMs: number, take: (all: boolean) => void, stop: () => void) {
    this.#take = take;
    this.#stop = stop;
    this.#timer = setInterval(take, everyMs, false);
    this.#timer.unref();
  }

  /** The thread ends. */
  end(): void {
    clearInterval(this.#timer);
    this.#take(true);
    this.#stop();
  }
}
