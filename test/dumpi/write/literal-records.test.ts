import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Rank } from '../../../src/dumpi/write/rank.js';
import { open } from './opened-rank.js';

/** Magic, and the seconds from which two clocks count. */
const BEFORE_BODY = 16;
const MAGIC = 'ffaadd44554d5049';
const END = '0125';

const status = { bytes: 16, source: 1, tag: 7, cancelled: 0, error: -1 };
/** The same in bytes: i32 bytes and source, i8 cancelled and error, i32 tag. */
const STATUS = '00000010 00000001 00 ff 00000007';

function bytesOf(record: (rank: Rank) => void, threads: boolean): string {
  const rank = open({ config: { timestamps: 'none' }, threads });
  record(rank);
  rank.close();
  return readFileSync(rank.path).toString('hex');
}

/** Each kind of field in a record: label, mask, arguments, all of them big-endian. */
const records: [string, string, (rank: Rank) => void][] = [
  [
    'integers and handles',
    '0000 03 00000004 0009 00000001 00000007 0002',
    (rank) => {
      rank.log('MPI_Send', { count: 4, datatype: 9, dest: 1, tag: 7, comm: 2 });
    },
  ],
  [
    'a status',
    `0001 03 00000004 0009 fffffffe ffffffff 0002 00000001 ${STATUS}`,
    (rank) => {
      rank.log('MPI_Recv', { count: 4, datatype: 9, source: -2, tag: -1, comm: 2, status });
    },
  ],
  [
    'texts',
    '007c 03 00000002 00000001 61 00000002 6263',
    (rank) => {
      rank.log('MPI_Init', { argv: ['a', 'bc'] });
    },
  ],
  [
    'arrays',
    `0012 03 00000002 00000002 00000005 00000006 00000002 ${STATUS} ${STATUS}`,
    (rank) => {
      const statuses = [status, status];
      rank.log('MPI_Waitall', { count: 2, requests: [5, 6], statuses });
    },
  ],
  [
    '64 bits, and one byte',
    '00fe 03 0003 fffffffffffffffe 01',
    (rank) => {
      rank.log('MPI_File_seek', { file: 3, offset: -2n, whence: 1 });
    },
  ],
  [
    'an address, entered and left',
    '0123 03 fffffffffffffffe 0124 03 fffffffffffffffe',
    (rank) => {
      rank.functionEnter({ address: 2n ** 64n - 2n });
      rank.functionExit({ address: 2n ** 64n - 2n });
    },
  ],
];

describe('records by hand', () => {
  it.each(records)('%s', (_, hex, record) => {
    const bytes = bytesOf(record, false);
    const body = hex.replaceAll(' ', '');
    expect(bytes.slice(0, MAGIC.length)).toBe(MAGIC);
    expect(bytes.slice(2 * BEFORE_BODY, 2 * BEFORE_BODY + body.length + END.length)).toBe(
      body + END,
    );
  });

  it('a thread', () => {
    const bytes = bytesOf((rank) => {
      rank.log('MPI_Barrier', { comm: 2 }, undefined, 0x1234);
    }, true);
    expect(bytes.slice(2 * BEFORE_BODY)).toMatch(/^[0-9a-f]{4}43123400020125/);
  });
});
