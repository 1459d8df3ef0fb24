import { compile, mayCompile } from '../core/compile.js';
import {
  ADDRESS_OFFSET,
  LENGTH_OFFSET,
  RECORD_BYTES,
  SPACE_OFFSET,
  TIMESTAMP_OFFSET,
  TYPE_OFFSET,
} from './layout.js';

/** Checked columns whose element `i & mask` is that of reference `i`: a mask of 0 is one for all. */
export interface CheckedArrays {
  count: number;
  types: Uint8Array;
  typeMask: number;
  /** Low and high halves in turn, in the machine's order; undefined: `numbers` has the timestamps. */
  halves: Uint32Array | undefined;
  halfMask: number;
  numbers: Float64Array | Uint32Array | undefined;
  lengths: Uint8Array;
  lengthMask: number;
  spaces: Uint32Array;
  spaceMask: number;
  addresses: Uint32Array;
}

/** Writes references `from` to `to` as records at byte `at`. */
export type Pack = (at: number, arrays: CheckedArrays, from: number, to: number) => void;

/** Whether the low half of a 64-bit number comes first in this machine's memory. */
export const LITTLE_MACHINE = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

const TWO_TO_MINUS_32 = 2 ** -32;
/** References whose columns fit the first-level cache together. */
const PIECE = 256;

function offsets(little: boolean): { low: number; high: number } {
  return {
    low: TIMESTAMP_OFFSET + (little ? 0 : 4),
    high: TIMESTAMP_OFFSET + (little ? 4 : 0),
  };
}

/** Makes the packer where functions may not be made from text: right, but slower. */
export function plainPacker(view: DataView, little: boolean): Pack {
  const { low, high } = offsets(little);
  const lowHalf = LITTLE_MACHINE ? 0 : 1;
  return (at, arrays, from, to) => {
    const { types, lengths, spaces, addresses, halves, numbers } = arrays;
    let record = at;
    for (let i = from; i < to; i++) {
      view.setUint8(record + TYPE_OFFSET, types[i & arrays.typeMask]!);
      view.setUint8(record + LENGTH_OFFSET, lengths[i & arrays.lengthMask]!);
      view.setUint32(record + SPACE_OFFSET, spaces[i & arrays.spaceMask]!, little);
      view.setUint32(record + ADDRESS_OFFSET, addresses[i]!, little);
      if (halves !== undefined) {
        const half = 2 * (i & arrays.halfMask);
        view.setUint32(record + low, halves[half + lowHalf]!, little);
        view.setUint32(record + high, halves[half + 1 - lowHalf]!, little);
      } else {
        const timestamp = numbers![i]!;
        view.setUint32(record + low, timestamp, little);
        view.setUint32(record + high, Math.floor(timestamp * TWO_TO_MINUS_32), little);
      }
      record += RECORD_BYTES;
    }
  };
}

/** Copies a piece of a column, or its one value. */
function take(
  into: Uint8Array | Uint32Array,
  column: Uint8Array | Uint32Array,
  mask: number,
  from: number,
  to: number,
): void {
  if (mask === 0) into.fill(column[0]!, 0, to - from);
  else into.set(column.subarray(from, to));
}

/**
 * The columns go piece by piece into arrays that are constants of the loops: V8 then knows their
 * addresses and lengths, and the copy costs less than what it would ask of each element otherwise.
 */
function compiledPacker(view: DataView, little: boolean): Pack {
  const { low, high } = offsets(little);
  const types = new Uint8Array(PIECE);
  const lengths = new Uint8Array(PIECE);
  const spaces = new Uint32Array(PIECE);
  const addresses = new Uint32Array(PIECE);
  const numbers = new Float64Array(PIECE);
  const halves = new Uint32Array(2 * PIECE);
  const scope = { view, types, lengths, spaces, addresses, numbers, halves };
  const loop = (name: string, timestamp: string): unknown =>
    compile(
      `laplace ${name}`,
      scope,
      `return function ${name}(at, count) {
  for (let i = 0; i < count; i++) {
    view.setUint8(at + ${TYPE_OFFSET}, types[i]);
    view.setUint8(at + ${LENGTH_OFFSET}, lengths[i]);
    view.setUint32(at + ${SPACE_OFFSET}, spaces[i], ${little});
    view.setUint32(at + ${ADDRESS_OFFSET}, addresses[i], ${little});
    ${timestamp}
    at += ${RECORD_BYTES};
  }
};`,
    );
  const lowHalf = LITTLE_MACHINE ? 0 : 1;
  const packHalves = loop(
    'packHalves',
    `view.setUint32(at + ${low}, halves[2 * i + ${lowHalf}], ${little});
    view.setUint32(at + ${high}, halves[2 * i + ${1 - lowHalf}], ${little});`,
  ) as (at: number, count: number) => void;
  const packNumbers = loop(
    'packNumbers',
    `const timestamp = numbers[i];
    view.setUint32(at + ${low}, timestamp, ${little});
    view.setUint32(at + ${high}, Math.floor(timestamp * ${TWO_TO_MINUS_32}), ${little});`,
  ) as (at: number, count: number) => void;

  return (at, arrays, from, to) => {
    let record = at;
    for (let start = from; start < to; start += PIECE) {
      const end = Math.min(start + PIECE, to);
      const count = end - start;
      take(types, arrays.types, arrays.typeMask, start, end);
      take(lengths, arrays.lengths, arrays.lengthMask, start, end);
      take(spaces, arrays.spaces, arrays.spaceMask, start, end);
      addresses.set(arrays.addresses.subarray(start, end));
      if (arrays.halves === undefined) {
        numbers.set(arrays.numbers!.subarray(start, end));
        packNumbers(record, count);
      } else {
        if (arrays.halfMask !== 0) {
          halves.set(arrays.halves.subarray(2 * start, 2 * end));
        } else {
          for (let i = 0; i < 2 * count; i++) halves[i] = arrays.halves[i & 1]!;
        }
        packHalves(record, count);
      }
      record += count * RECORD_BYTES;
    }
  };
}

/**
 * Makes what turns columns into records.
 *
 * @param view where they go.
 * @param little byte order of the records.
 */
export function packer(view: DataView, little: boolean): Pack {
  return (mayCompile() ? compiledPacker : plainPacker)(view, little);
}
