import { describe, expect, it } from 'vitest';
import type { CallArguments, CallName } from '../../src/dumpi/calls.js';
import { Datatype, Distribution } from '../../src/dumpi/constants.js';
import { DatatypeSizes } from '../../src/dumpi/datatype-sizes.js';

const { BYTE, CHAR, DOUBLE, FLOAT, INT, LB, LONG, SHORT } = Datatype;
const predefined = [
  0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20,
];

/** Bytes of the datatypes from 28 up after these calls. */
function sizesAfter(...calls: [name: CallName, fields: object][]): number[] {
  const sizes = new DatatypeSizes(predefined);
  for (const [name, fields] of calls) sizes.learn(name, fields);
  return sizes.list.slice(Datatype.FIRST_USER);
}

/** A call whose fields TypeScript knows. */
function call<N extends CallName>(name: N, fields: CallArguments<N>): [N, CallArguments<N>] {
  return [name, fields];
}

/** MPI_Type_create_darray of a 17 x 11 x 5 array on a 2 x 3 x 1 grid of processes. */
function darray(rank: number, dargs: number[], newtype: number): [CallName, object] {
  const { BLOCK, CYCLIC, NONE } = Distribution;
  return call('MPI_Type_create_darray', {
    size: 6,
    rank,
    ndims: 3,
    gsizes: [17, 11, 5],
    distribs: [BLOCK, CYCLIC, NONE],
    dargs,
    psizes: [2, 3, 1],
    order: 1,
    oldtype: INT,
    newtype,
  });
}

describe('the size of a datatype', () => {
  // What Open MPI's MPI_Type_size says of the same calls, in a trace of libdumpi.
  it('is what an MPI library says', () => {
    const lengths = [1, 0, 5];
    const places = { count: 3, displacements: [0, 100, 200] };
    const oldtypes = [INT, DOUBLE, 29];
    const usual = [-1, -1, -1];
    expect(
      sizesAfter(
        call('MPI_Type_contiguous', { count: 10, oldtype: INT, newtype: 28 }),
        call('MPI_Type_vector', {
          count: 3,
          blocklength: 4,
          stride: 7,
          oldtype: DOUBLE,
          newtype: 29,
        }),
        call('MPI_Type_create_hvector', {
          count: 3,
          blocklength: 4,
          stride: 70,
          oldtype: 28,
          newtype: 30,
        }),
        call('MPI_Type_indexed', {
          count: 3,
          lengths: Int32Array.of(...lengths),
          indices: [0, 10, 20],
          oldtype: SHORT,
          newtype: 31,
        }),
        call('MPI_Type_create_hindexed', {
          ...places,
          blocklengths: lengths,
          oldtype: CHAR,
          newtype: 32,
        }),
        call('MPI_Type_create_indexed_block', {
          count: 3,
          blocklength: 2,
          displacments: [0, 10, 20],
          oldtype: FLOAT,
          newtype: 33,
        }),
        call('MPI_Type_create_struct', {
          ...places,
          blocklengths: lengths,
          oldtypes,
          newtype: 34,
        }),
        call('MPI_Type_create_resized', { oldtype: 34, lb: 0, extent: 4096, newtype: 35 }),
        call('MPI_Type_dup', { oldtype: 35, newtype: 36 }),
        call('MPI_Type_create_subarray', {
          ndims: 3,
          sizes: [10, 20, 30],
          subsizes: [2, 3, 4],
          starts: [1, 1, 1],
          order: 1,
          oldtype: LONG,
          newtype: 37,
        }),
        darray(0, usual, 38),
        darray(1, [9, 2, -1], 39),
        darray(2, usual, 40),
        darray(3, [9, 2, -1], 41),
        darray(4, usual, 42),
        darray(5, [9, 2, -1], 43),
        call('MPI_Type_contiguous', { count: 0, oldtype: INT, newtype: 44 }),
        call('MPI_Type_match_size', { typeclass: 1, size: 8, datatype: 45 }),
        call('MPI_Type_struct', {
          count: 3,
          lengths: [1, 1, 2],
          indices: [-8, 0, 8],
          oldtypes: [LB, 36, BYTE],
          newtype: 46,
        }),
        call('MPI_Type_hvector', {
          count: 2,
          blocklength: 3,
          stride: 9,
          oldtype: BYTE,
          newtype: 47,
        }),
        call('MPI_Type_hindexed', {
          count: 2,
          lengths: [2, 3],
          indices: [0, 9],
          oldtype: INT,
          newtype: 48,
        }),
      ),
    ).toEqual([
      40, 96, 480, 12, 6, 24, 484, 484, 484, 192, 720, 720, 540, 640, 640, 480, 0, 8, 486, 6, 20,
    ]);
  });

  it('is 0, which says nothing, where the calls do not tell it', () => {
    const contiguous = { count: 3, oldtype: 40, newtype: 30 };
    const huge = { count: 2 ** 30, oldtype: DOUBLE, newtype: 28 };
    const struct = { count: 2, lengths: [1, 1], indices: [0, 8], oldtypes: [INT], newtype: 28 };
    expect(sizesAfter(['MPI_Type_contiguous', contiguous])).toEqual([]);
    expect(sizesAfter(['MPI_Type_contiguous', huge])).toEqual([]);
    expect(sizesAfter(['MPI_Type_struct', struct])).toEqual([]);
    expect(sizesAfter(['MPI_Type_indexed', { lengths: [-1], oldtype: INT, newtype: 28 }])).toEqual(
      [],
    );
    const size = { datatype: 30, size: 12 };
    expect(sizesAfter(['MPI_Type_size', size])).toEqual([0, 0, 12]);
  });

  it('is that of the first datatype of a number, as in libdumpi', () => {
    const first = { count: 2, oldtype: INT, newtype: 28 };
    expect(
      sizesAfter(['MPI_Type_contiguous', first], ['MPI_Type_contiguous', { ...first, count: 9 }]),
    ).toEqual([8]);
  });
});
