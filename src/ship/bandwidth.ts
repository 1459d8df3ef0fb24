/** Bytes may come so much too early, in milliseconds. */
const AHEAD_MS = 1000;

/** Holds back what reads more bytes a second than it may. */
export class Bandwidth {
  readonly #bytesPerSecond: number;
  /** When what was read so far may have been read, by `performance.now`. */
  #at = 0;

  /** @param bytesPerSecond Infinity: it never waits. */
  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Waits until so many bytes more may be read. */
  async take(bytes: number): Promise<void> {
    if (this.#bytesPerSecond === Infinity) return;
    const now = performance.now();
    this.#at = Math.max(this.#at, now) + (bytes / this.#bytesPerSecond) * 1000;
    const wait = this.#at - now - AHEAD_MS;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
