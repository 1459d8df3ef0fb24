import { NO_SYSTEM } from '../../../rows/byte-table.js';
import type { TextTable } from '../look-index.js';

/** Texts that lie in one array of bytes, and are decoded when they are asked for. */
export class TextBytes implements TextTable {
  readonly count: number;
  readonly #bytes: Buffer;
  readonly #ends: Uint32Array;
  readonly #systems: Uint32Array;
  /** Decoded texts. A page asks for the same few again and again. */
  readonly #known = new Map<number, string>();

  constructor(bytes: Uint8Array, ends: Uint32Array, systems: Uint32Array) {
    this.#systems = systems;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#ends = ends;
    this.count = ends.length;
  }

  text(number: number): string {
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    const end = this.#ends[number];
    if (end === undefined) return '';
    const text = this.#bytes.toString('utf8', number === 0 ? 0 : this.#ends[number - 1]!, end);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(number, text);
    return text;
  }

  system(number: number): string | undefined {
    const system = this.#systems[number] ?? NO_SYSTEM;
    return system === NO_SYSTEM ? undefined : this.text(system);
  }
}

const MAX_KNOWN = 1 << 16;
