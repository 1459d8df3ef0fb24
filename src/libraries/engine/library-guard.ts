/** Ends the observation of a library with its first error. The program never gets one. */
export class LibraryGuard {
  on = true;
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  fail(error: unknown): void {
    if (!this.on) return;
    this.on = false;
    const reason = error instanceof Error ? error.message : String(error);
    process.emitWarning(`${this.#name} is no longer traced: ${reason}`, 'TracewrightWarning');
  }
}
