/** How often it looks within its limit. */
const LOOKS = 20;

/** Calls back when a target has not answered for so many milliseconds. */
export class SilenceLimit {
  readonly #limitMs: number;
  readonly #isBusy: () => boolean;
  readonly #onEnd: () => void;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;

  /** @param isBusy whether there is a reason to wait on. */
  constructor(limitMs: number, isBusy: () => boolean, onEnd: () => void) {
    this.#limitMs = limitMs;
    this.#isBusy = isBusy;
    this.#onEnd = onEnd;
  }

  /** The target does not answer. */
  begin(): void {
    if (this.#timer !== undefined) return;
    this.#since = performance.now();
    this.#timer = setInterval(() => {
      this.#look();
    }, this.#limitMs / LOOKS);
  }

  /** It answers, or nobody waits any more. */
  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const now = performance.now();
    if (this.#isBusy()) this.#since = now;
    if (now - this.#since < this.#limitMs) return;
    this.end();
    this.#onEnd();
  }
}
