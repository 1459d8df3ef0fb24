import { enlarged } from './row-columns.js';

const FIRST_SLOTS = 1 << 10;
const FIRST_BYTES = 1 << 14;
const EMPTY = 0xffff_ffff;
/** Of a name: its operation names no system. */
export const NO_SYSTEM = 0xffff_ffff;

function hashBytes(bytes: Uint8Array, from: number, to: number): number {
  let hash = RANDOM_SEED;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x0100_0193);
  return hash;
}

/** Where hashes in memory begin. Random, so that no trace can be made whose names all collide. */
export const RANDOM_SEED = Math.floor(Math.random() * 2 ** 32) | 0;

/** Spreads a hash over all of its bits. Signed, as all hashes: an unsigned one may be an object on the heap. */
export function mixed(hash: number): number {
  let bits = hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35);
  return bits ^ (bits >>> 16);
}

/**
 * Byte strings by number, each once. Makes no object for a string. A name of operations of several systems has a
 * number for each: the name of a system is the number of its own string.
 */
export class ByteTable {
  count = 0;
  #bytes = new Uint8Array(FIRST_BYTES);
  /** Where each string ends in #bytes. */
  #ends = new Uint32Array(FIRST_SLOTS);
  #hashes = new Int32Array(FIRST_SLOTS);
  #systems = new Uint32Array(FIRST_SLOTS);
  #slots = new Uint32Array(2 * FIRST_SLOTS).fill(EMPTY);

  /** The number of the string at `from` in `bytes`; a new one where it is not known. */
  numberOf(bytes: Uint8Array, from: number, to: number, system = NO_SYSTEM): number {
    const hash = mixed(hashBytes(bytes, from, to) ^ Math.imul(system, 0x9e37_79b1));
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const number = this.#slots[slot]!;
      if (number === EMPTY) break;
      const isSame = this.#hashes[number] === hash && this.#systems[number] === system;
      if (isSame && this.#isAt(number, bytes, from, to)) return number;
      slot = (slot + 1) & mask;
    }
    this.#systems[this.count] = system;
    return this.#add(bytes, from, to, hash, slot);
  }

  numberOfText(text: string): number {
    const bytes = Buffer.from(text);
    return this.numberOf(bytes, 0, bytes.length);
  }

  /** The columns that a `TextBytes` reads. */
  take(): { bytes: Uint8Array; ends: Uint32Array; systems: Uint32Array } {
    const ends = this.#ends.slice(0, this.count);
    const systems = this.#systems.slice(0, this.count);
    return { bytes: this.#bytes.slice(0, ends.at(-1) ?? 0), ends, systems };
  }

  /** All strings, decoded. */
  texts(): string[] {
    const bytes = Buffer.from(this.#bytes.buffer);
    return Array.from({ length: this.count }, (_, number) =>
      bytes.toString('utf8', number === 0 ? 0 : this.#ends[number - 1]!, this.#ends[number]),
    );
  }

  #isAt(number: number, bytes: Uint8Array, from: number, to: number): boolean {
    const own = this.#bytes;
    let at = number === 0 ? 0 : this.#ends[number - 1]!;
    if (this.#ends[number]! - at !== to - from) return false;
    for (let i = from; i < to; i++) if (own[at++] !== bytes[i]) return false;
    return true;
  }

  #add(bytes: Uint8Array, from: number, to: number, hash: number, slot: number): number {
    const number = this.count++;
    const begin = number === 0 ? 0 : this.#ends[number - 1]!;
    const end = begin + to - from;
    if (end > this.#bytes.length) {
      this.#bytes = enlarged(this.#bytes, Math.max(end, 2 * this.#bytes.length));
    }
    for (let i = from, at = begin; i < to; i++) this.#bytes[at++] = bytes[i]!;
    this.#ends[number] = end;
    this.#hashes[number] = hash;
    this.#slots[slot] = number;
    if (this.count === this.#ends.length) this.#grow();
    return number;
  }

  #grow(): void {
    this.#ends = enlarged(this.#ends);
    this.#hashes = enlarged(this.#hashes);
    this.#systems = enlarged(this.#systems);
    const slots = new Uint32Array(2 * this.#slots.length).fill(EMPTY);
    const mask = slots.length - 1;
    for (let number = 0; number < this.count; number++) {
      let slot = this.#hashes[number]! & mask;
      while (slots[slot] !== EMPTY) slot = (slot + 1) & mask;
      slots[slot] = number;
    }
    this.#slots = slots;
  }
}
