/** Asks the newest question: answers to older ones are not taken. */
export class LastQuestion {
  #key = '';
  #asked: AbortController | undefined;

  /** Asks, unless the last question had the same key. One that has failed may be asked again. */
  ask<T>(key: string, ask: (signal: AbortSignal) => Promise<T>, take: (answer: T) => void): void {
    if (key === this.#key) return;
    this.answered(key);
    const asked = (this.#asked = new AbortController());
    ask(asked.signal)
      .then((answer) => {
        if (!asked.signal.aborted) take(answer);
      })
      .catch(() => {
        // Aborted, or the connection says why.
        if (this.#asked === asked) this.#key = '';
      });
  }

  /** That the answer to a question is known; of the empty one, that none is wanted. */
  answered(key: string): void {
    this.#key = key;
    this.#asked?.abort();
  }
}
