import { Datatype, Distribution } from './constants.js';
import type { CallArguments, CallName, Integers } from './calls.js';

/**
 * How many bytes a datatype has: what MPI_Type_size says. libdumpi asks its MPI for it. Here it is
 * computed from the calls that make the datatype.
 */

/** The largest size that the section of the sizes can hold. */
export const LARGEST_SIZE = 0x7fff_ffff;
/** The last datatype whose size can be listed: the format's own reader counts them in 16 bits. */
export const LAST_DATATYPE = 0x7ffe;

/** Bytes of a datatype; undefined if they are not known. */
type SizeOf = (datatype: number) => number | undefined;

/** A datatype that a call makes or asks about, and its bytes if they are known. */
interface SizedDatatype {
  datatype: number;
  bytes: number | undefined;
}

function sum(values: Integers | null): number {
  let total = 0;
  for (const value of values ?? []) total += value;
  return total;
}

function product(values: Integers | null): number {
  let total = 1;
  for (const value of values ?? []) total *= value;
  return total;
}

/** How a dimension of a distributed array is dealt out to processes. */
interface Dealing {
  distribution: number;
  /** Elements of a block; negative is MPI_DISTRIBUTE_DFLT_DARG, whose value each library chooses. */
  argument: number;
  elements: number;
  processes: number;
}

/** Elements of one dimension that the process at `coordinate` has. */
function dealtElements(dealing: Dealing, coordinate: number): number {
  const { distribution, argument, elements, processes } = dealing;
  const isDefault = argument <= 0;
  switch (distribution) {
    case Distribution.NONE:
      return elements;
    case Distribution.BLOCK: {
      const block = isDefault ? Math.ceil(elements / processes) : argument;
      return Math.max(0, Math.min(block, elements - coordinate * block));
    }
    case Distribution.CYCLIC: {
      const block = isDefault ? 1 : argument;
      const round = processes * block;
      const rest = (elements % round) - coordinate * block;
      return Math.floor(elements / round) * block + Math.max(0, Math.min(block, rest));
    }
    default:
      return NaN;
  }
}

/** Elements of a distributed array that the rank has. The grid of processes is in C's order. */
function darrayElements(call: CallArguments<'MPI_Type_create_darray'>): number {
  const { gsizes, distribs, dargs, psizes } = call;
  let processesAfter = product(psizes);
  let rest = call.rank;
  let all = 1;
  for (let i = 0; i < call.ndims && i < (psizes?.length ?? 0); i++) {
    const processes = psizes![i]!;
    processesAfter /= processes;
    const coordinate = Math.floor(rest / processesAfter);
    rest %= processesAfter;
    const [distribution, argument, elements] = [distribs?.[i], dargs?.[i], gsizes?.[i]];
    if (distribution === undefined || argument === undefined || elements === undefined) return NaN;
    all *= dealtElements({ distribution, argument, elements, processes }, coordinate);
  }
  return all;
}

/** Bytes of a structure; a datatype of which it has no element need not be known. */
function structBytes(lengths: Integers | null, types: Integers | null, sizeOf: SizeOf): number {
  let bytes = 0;
  for (let i = 0; i < (lengths?.length ?? 0); i++) {
    const length = lengths![i]!;
    if (length !== 0) bytes += length * (sizeOf(types?.[i] ?? NaN) ?? NaN);
  }
  return bytes;
}

/** The calls that make a datatype of elements of another one: how many elements it has. */
const ELEMENTS = {
  MPI_Type_contiguous: ({ count }) => count,
  MPI_Type_vector: ({ count, blocklength }) => count * blocklength,
  MPI_Type_hvector: ({ count, blocklength }) => count * blocklength,
  MPI_Type_create_hvector: ({ count, blocklength }) => count * blocklength,
  MPI_Type_indexed: ({ lengths }) => sum(lengths),
  MPI_Type_hindexed: ({ lengths }) => sum(lengths),
  MPI_Type_create_hindexed: ({ blocklengths }) => sum(blocklengths),
  MPI_Type_create_indexed_block: ({ count, blocklength }) => count * blocklength,
  MPI_Type_create_subarray: ({ subsizes }) => product(subsizes),
  MPI_Type_create_darray: darrayElements,
  MPI_Type_create_resized: () => 1,
  MPI_Type_dup: () => 1,
} satisfies { [N in CallName]?: (call: CallArguments<N>) => number };

/** The others that make a datatype, or say its size. */
const OTHERS = {
  MPI_Type_struct: ({ lengths, oldtypes, newtype }, sizeOf) => ({
    datatype: newtype,
    bytes: structBytes(lengths, oldtypes, sizeOf),
  }),
  MPI_Type_create_struct: ({ blocklengths, oldtypes, newtype }, sizeOf) => ({
    datatype: newtype,
    bytes: structBytes(blocklengths, oldtypes, sizeOf),
  }),
  MPI_Type_size: ({ datatype, size }) => ({ datatype, bytes: size }),
  MPI_Type_match_size: ({ datatype, size }) => ({ datatype, bytes: size }),
} satisfies {
  [N in CallName]?: (call: CallArguments<N>, sizeOf: SizeOf) => SizedDatatype;
};

type ElementCall = { oldtype: number; newtype: number };
type CountElements = (call: never) => number;
type FindSize = (call: never, sizeOf: SizeOf) => SizedDatatype;

const countElements = new Map<string, CountElements>(Object.entries(ELEMENTS));
const findSize = new Map<string, FindSize>(Object.entries(OTHERS));

/** The calls that make a datatype. */
export const MAKING_DATATYPES = [
  ...(Object.keys(ELEMENTS) as (keyof typeof ELEMENTS)[]),
  'MPI_Type_struct',
  'MPI_Type_create_struct',
] as const satisfies readonly CallName[];

/** Whether {@link sizedDatatype} returns something for calls of this name. */
export function saysSize(name: string): boolean {
  return countElements.has(name) || findSize.has(name);
}

/**
 * The datatype that a call makes or asks about, with its size; undefined for other calls.
 *
 * @param fields of the call, as a program gives them or as a reader reads them.
 * @param sizeOf says the sizes of the datatypes that exist.
 */
export function sizedDatatype(
  name: string,
  fields: object,
  sizeOf: SizeOf,
): SizedDatatype | undefined {
  const elements = countElements.get(name);
  let found: SizedDatatype | undefined;
  if (elements === undefined) {
    found = findSize.get(name)?.(fields as never, sizeOf);
  } else {
    const { oldtype, newtype } = fields as ElementCall;
    const count = elements(fields as never);
    // A datatype without elements has no bytes, whatever they would be of.
    const bytes = count === 0 ? 0 : count * (sizeOf(oldtype) ?? NaN);
    found = { datatype: newtype, bytes };
  }
  if (found === undefined) return undefined;
  const { datatype, bytes } = found;
  const isSize = Number.isInteger(bytes) && bytes! >= 0 && bytes! <= LARGEST_SIZE;
  return { datatype, bytes: isSize ? bytes : undefined };
}

/** Looks a datatype's bytes up in a list: 0 means unknown, except for MPI_LB and MPI_UB. */
export function listedSize(list: readonly number[], datatype: number): number | undefined {
  const bytes = list[datatype];
  const hasNone = datatype === Datatype.LB || datatype === Datatype.UB;
  return bytes === 0 && !hasNone ? undefined : bytes;
}

/** The sizes of a rank's datatypes, as the end of its file lists them. */
export class DatatypeSizes {
  /** Bytes; the index is the datatype. 0 where they are not known. */
  readonly list: number[];

  constructor(initial: readonly number[]) {
    this.list = [...initial];
  }

  readonly #sizeOf = (datatype: number): number | undefined => listedSize(this.list, datatype);

  /** @returns what undoes it. */
  set(datatype: number, bytes: number): () => void {
    const { list } = this;
    const { length, [datatype]: before = 0 } = list;
    while (list.length <= datatype) list.push(0);
    list[datatype] = bytes;
    return () => {
      list[datatype] = before;
      list.length = length;
    };
  }

  /**
   * Learns what a call says. The first size of a number stays, as in libdumpi, even if the number is
   * used again for another datatype.
   */
  learn(name: string, fields: object): void {
    const found = sizedDatatype(name, fields, this.#sizeOf);
    if (found?.bytes === undefined) return;
    const { datatype, bytes } = found;
    if (!(datatype >= 0 && datatype <= LAST_DATATYPE) || (this.list[datatype] ?? 0) > 0) return;
    this.set(datatype, bytes);
  }
}
