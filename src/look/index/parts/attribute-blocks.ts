import { mixed, RANDOM_SEED } from '../../../rows/byte-table.js';
import { enlarged } from '../../../rows/row-columns.js';
import type { RowColumns } from '../../../rows/row-columns.js';

/** Rows of one filter. */
export const BLOCK_ROWS = 2048;
const BITS_PER_ATTRIBUTE = 10;
const PROBES = 4;
const MAX_BLOCK_BYTES = 1 << 17;

/**
 * Bloom filters over the attributes of each block of rows: which blocks can have a row with an attribute.
 * Bits of block `i` lie in `bits` from `ends[i - 1]` to `ends[i]`, a power of two of bytes or none.
 */
export interface AttributeBlocks {
  bits: Uint8Array;
  ends: Uint32Array;
}

/** Filters of the rows in their order. */
export function buildAttributeBlocks(rows: RowColumns, order: Uint32Array): AttributeBlocks {
  const { hashes, hashEnd } = rows;
  const blocks = Math.ceil(order.length / BLOCK_ROWS);
  const ends = new Uint32Array(blocks);
  let bits = new Uint8Array(Math.max(1024, blocks * 4096));
  let used = 0;
  const seen = new Distinct();
  for (let block = 0; block < blocks; block++) {
    const to = Math.min(order.length, (block + 1) * BLOCK_ROWS);
    seen.clear();
    for (let i = block * BLOCK_ROWS; i < to; i++) {
      const row = order[i]!;
      const end = hashEnd[row]!;
      for (let at = row === 0 ? 0 : hashEnd[row - 1]!; at < end; at++) seen.add(hashes[at]!);
    }
    const bytes = bytesFor(seen.count);
    if (used + bytes > bits.length) bits = enlarged(bits, 2 * (used + bytes));
    for (let i = 0; i < seen.count; i++) setBits(bits, used, bytes, seen.values[i]!);
    used += bytes;
    ends[block] = used;
  }
  return { bits: bits.slice(0, used), ends };
}

/** Whether a block can have a row with one of the hashes. */
export function mayContain(
  { bits, ends }: AttributeBlocks,
  block: number,
  hashes: readonly number[],
): boolean {
  const from = block === 0 ? 0 : ends[block - 1]!;
  const bytes = ends[block]! - from;
  return bytes > 0 && hashes.some((hash) => hasBits(bits, from, bytes, hash));
}

function bytesFor(count: number): number {
  if (count === 0) return 0;
  let bytes = 8;
  while (bytes < MAX_BLOCK_BYTES && bytes * 8 < count * BITS_PER_ATTRIBUTE) bytes *= 2;
  return bytes;
}

function setBits(bits: Uint8Array, from: number, bytes: number, hash: number): void {
  const mask = bytes * 8 - 1;
  const step = mixed(hash ^ 0x5bd1_e995) | 1;
  let bit = hash;
  for (let i = 0; i < PROBES; i++) {
    const own = bit & mask;
    bits[from + (own >>> 3)]! |= 1 << (own & 7);
    bit = (bit + step) | 0;
  }
}

function hasBits(bits: Uint8Array, from: number, bytes: number, hash: number): boolean {
  const mask = bytes * 8 - 1;
  const step = mixed(hash ^ 0x5bd1_e995) | 1;
  let bit = hash;
  for (let i = 0; i < PROBES; i++) {
    const own = bit & mask;
    if ((bits[from + (own >>> 3)]! & (1 << (own & 7))) === 0) return false;
    bit = (bit + step) | 0;
  }
  return true;
}

/** Odd and random: no trace can be made whose hashes all come to one slot. */
const SPREAD = RANDOM_SEED | 1;

/** The different hashes of a block. */
class Distinct {
  count = 0;
  values = new Int32Array(4096);
  #slots = new Int32Array(16_384);
  /** Which use of the set a slot is of. */
  #uses = new Uint32Array(16_384);
  #use = 0;
  /** Bits of a hash that are not used for its slot. */
  #shift = 32 - 14;

  clear(): void {
    this.count = 0;
    this.#use++;
  }

  add(hash: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = Math.imul(hash, SPREAD) >>> this.#shift;
    while (this.#uses[slot] === this.#use) {
      if (slots[slot] === hash) return;
      slot = (slot + 1) & mask;
    }
    slots[slot] = hash;
    this.#uses[slot] = this.#use;
    this.values[this.count++] = hash;
    if (this.count === this.values.length) this.#grow();
  }

  #grow(): void {
    this.values = enlarged(this.values);
    this.#slots = new Int32Array(4 * this.values.length);
    this.#uses = new Uint32Array(4 * this.values.length);
    this.#use = 1;
    this.#shift = Math.clz32(this.#slots.length - 1);
    const { count } = this;
    this.count = 0;
    for (let i = 0; i < count; i++) this.add(this.values[i]!);
  }
}
