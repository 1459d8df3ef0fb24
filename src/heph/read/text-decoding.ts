import { isUtf8 } from 'node:buffer';

const KEPT_TEXTS = 4096;
const LONGEST_KEPT = 64;

/**
 * Decodes the UTF-8 of a trace. A trace says the same few descriptions and names millions of
 * times: short ASCII texts are kept in a table of fixed size and found there by their bytes, which
 * is faster than decoding them and lets all packets share one string.
 */
export class TextDecoding {
  readonly #kept: string[] = new Array<string>(KEPT_TEXTS).fill('');

  /** The text of `bytes[start, end)`, or undefined when that is not valid UTF-8. */
  decode(bytes: Buffer, start: number, end: number): string | undefined {
    const length = end - start;
    if (length === 0) return '';
    if (length > LONGEST_KEPT) {
      return isUtf8(bytes.subarray(start, end)) ? bytes.toString('utf8', start, end) : undefined;
    }
    let hash = length;
    let bits = 0;
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!;
      bits |= byte;
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    if (bits >= 0x80) {
      return isUtf8(bytes.subarray(start, end)) ? bytes.toString('utf8', start, end) : undefined;
    }
    const slot = (hash ^ (hash >>> 15)) & (KEPT_TEXTS - 1);
    const kept = this.#kept[slot]!;
    if (kept.length === length) {
      let i = 0;
      while (i < length && kept.charCodeAt(i) === bytes[start + i]) i++;
      if (i === length) return kept;
    }
    const text = bytes.toString('latin1', start, end);
    this.#kept[slot] = text;
    return text;
  }
}
