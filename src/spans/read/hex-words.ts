const WORD_BYTES = 8;

/** Two digits of each byte, as they lie in memory. */
const PAIRS = new Uint16Array(
  Uint8Array.from(
    Buffer.from(Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0')).join('')),
  ).buffer,
);

/** 64-bit words as hexadecimal digits. Several at a time, because each call of Buffer costs 80 ns. */
export class HexWords {
  readonly #pairs: Uint16Array;
  readonly #digits: Buffer;

  /** @param count the most words of a text. */
  constructor(count: number) {
    this.#pairs = new Uint16Array(count * WORD_BYTES);
    this.#digits = Buffer.from(this.#pairs.buffer);
  }

  /** Takes the big-endian word at `from`. */
  put(index: number, bytes: Buffer, from: number): void {
    const pairs = this.#pairs;
    const to = index * WORD_BYTES;
    for (let i = 0; i < WORD_BYTES; i++) pairs[to + i] = PAIRS[bytes[from + i]!]!;
  }

  /** The first words, sixteen digits each. */
  text(count: number): string {
    return this.#digits.toString('latin1', 0, 2 * WORD_BYTES * count);
  }
}
