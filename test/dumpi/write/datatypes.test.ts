import { readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Datatype } from '../../../src/dumpi/constants.js';
import type { RankOptions } from '../../../src/dumpi/write/rank-options.js';
import type { Rank } from '../../../src/dumpi/write/rank.js';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { caught, open } from './opened-rank.js';

const { FIRST_USER, INT } = Datatype;

function contiguous(rank: Rank, count: number, newtype: number): void {
  rank.log('MPI_Type_contiguous', { count, oldtype: INT, newtype });
}

/** What the file says of the datatypes from the first user-defined one. */
function sizesIn(rank: Rank): number[] {
  rank.close();
  return readSections(rank.path).datatypeSizes!.slice(FIRST_USER);
}

describe('sizes of user-defined datatypes', () => {
  it.each([
    ['stored', {}],
    ['not stored', { config: { otherCalls: 'disable' } }],
  ] satisfies [string, Partial<RankOptions>][])('are those of calls that are %s', (_, options) => {
    const rank = open(options);
    for (let i = 0; i < 4; i++) contiguous(rank, 10 + i, FIRST_USER + i);
    rank.log('MPI_Type_vector', {
      count: 2,
      blocklength: 3,
      stride: 4,
      oldtype: FIRST_USER,
      newtype: FIRST_USER + 5,
    });
    expect(sizesIn(rank)).toEqual([40, 44, 48, 52, 0, 240]);
  });

  it('are what the program says, which outlives it', () => {
    const rank = open({ datatypeSizes: [0, 0, 1, 1, 1, 1, 4, 2, 2, 8] });
    contiguous(rank, 2, FIRST_USER);
    rank.datatypeSize(FIRST_USER + 2, 5);
    rank.datatypeSize(FIRST_USER, 24);
    const kept = join(dirname(rank.path), `.${basename(rank.path)}.json`);
    const { datatypeSizes } = JSON.parse(readFileSync(kept, 'utf8')) as {
      datatypeSizes: number[];
    };
    expect(datatypeSizes.slice(FIRST_USER)).toEqual([24, 0, 5]);
    expect(sizesIn(rank)).toEqual([24, 0, 5]);
  });

  it('are refused beyond what the file can hold, and where it is gone', () => {
    const rank = open();
    for (const [datatype, bytes, field] of [
      [-1, 4, 'datatype'],
      [32_767, 4, 'datatype'],
      ['28', 4, 'datatype'],
      [28, -1, 'bytes'],
      [28, 2 ** 31, 'bytes'],
      [28, 1n, 'bytes'],
    ] as const) {
      const error = caught(() => {
        rank.datatypeSize(datatype as number, bytes as number);
      });
      expect(error).toMatchObject({ name: 'TracewrightError', field });
    }
    expect(sizesIn(rank)).toEqual([]);
    const closed = (): void => {
      rank.datatypeSize(28, 4);
    };
    expect(caught(closed)).toMatchObject({ code: 'ERR_CLOSED' });
    const removed = open();
    rmSync(removed.path);
    expect(
      caught(() => {
        removed.datatypeSize(28, 4);
      }),
    ).toMatchObject({ code: 'ERR_SYSTEM' });
    expect(() => {
      removed.close();
    }).toThrow('removed');
  });

  it('are listed up to the last that the format’s own reader can count', () => {
    const rank = open();
    rank.log('MPI_Type_size', { datatype: 32_767, size: 4 });
    expect(sizesIn(rank)).toEqual([]);
    const last = open();
    last.log('MPI_Type_size', { datatype: 32_766, size: 4 });
    expect(sizesIn(last)).toHaveLength(32_767 - FIRST_USER);
  });

  it('are those of arguments that are read once', () => {
    const rank = open();
    let reads = 0;
    const args = {
      count: 2,
      get oldtype(): number {
        reads += 1;
        return INT;
      },
      newtype: FIRST_USER,
    };
    rank.log('MPI_Type_contiguous', args);
    expect([reads, sizesIn(rank)]).toEqual([1, [8]]);
  });
});
