import { inLargePages } from '../../../core/large-memory.js';

/**
 * Memory of columns by name, which is used again for the next part. Fresh memory costs more than what is
 * put there: the system clears each of its pages.
 */
export class ColumnMemory {
  readonly #buffers = new Map<string, ArrayBufferLike>();
  readonly #isShared: boolean;

  /** @param isShared whether several threads may use it. */
  constructor(isShared = false) {
    this.#isShared = isShared;
  }

  doubles(name: string, count: number): Float64Array {
    return new Float64Array(this.#of(name, 8 * count), 0, count);
  }

  words(name: string, count: number): Uint32Array {
    return new Uint32Array(this.#of(name, 4 * count), 0, count);
  }

  integers(name: string, count: number): Int32Array {
    return new Int32Array(this.#of(name, 4 * count), 0, count);
  }

  halves(name: string, count: number): Uint16Array {
    return new Uint16Array(this.#of(name, 2 * count), 0, count);
  }

  bytes(name: string, count: number): Uint8Array {
    return new Uint8Array(this.#of(name, count), 0, count);
  }

  /** It has whatever was there before. */
  #of(name: string, bytes: number): ArrayBufferLike {
    let buffer = this.#buffers.get(name);
    if (buffer === undefined || buffer.byteLength < bytes) {
      buffer = inLargePages(this.#isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes));
      this.#buffers.set(name, buffer);
    }
    return buffer;
  }
}
