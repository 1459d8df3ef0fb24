import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { PLAIN, RLE, RLE_DICTIONARY } from './columns.js';
import type { Column, ColumnPages } from './columns.js';
import { thriftBytes } from './thrift-bytes.js';
import type { ThriftStruct, ThriftValue } from './thrift-bytes.js';

const MAGIC = Buffer.from('PAR1');
const VERSION = 2;
const GZIP = 2;
const DATA_PAGE = 0;
const DICTIONARY_PAGE = 2;
const OPTIONAL = 1;
const CREATED_BY = 'tracewright';

const compress = promisify(gzip);
const LEVEL = { level: constants.Z_BEST_SPEED };

type AnyColumn = Pick<Column<never>, 'name' | 'type' | 'isOptional' | 'meaning' | 'take'>;

/** A column of a row group, ready to be written. */
interface Chunk {
  column: AnyColumn;
  pages: ColumnPages;
  /** Headers and compressed pages. */
  dictionary: Buffer;
  data: Buffer;
  uncompressed: number;
}

/** A row group, ready to be written. */
export interface RowGroup {
  rows: number;
  chunks: Chunk[];
}

/** Compresses the pages of a row group, on other threads. */
export async function compressRowGroup(
  columns: readonly AnyColumn[],
  rows: number,
): Promise<RowGroup> {
  const taken = columns.map((column) => ({ column, pages: column.take() }));
  const chunks = taken.map(async ({ column, pages }): Promise<Chunk> => {
    const { dictionary, data } = pages;
    const [dictionaryPage, dataPage] = await Promise.all([
      dictionary && page(dictionary.bytes, [7, { struct: valuesOf(dictionary.values) }]),
      page(data, [
        5,
        {
          struct: [
            [1, { i32: pages.values }],
            [2, { i32: pages.encoding }],
            [3, { i32: RLE }],
            [4, { i32: RLE }],
          ],
        },
      ]),
    ]);
    return {
      column,
      pages,
      dictionary: dictionaryPage?.bytes ?? Buffer.alloc(0),
      data: dataPage.bytes,
      uncompressed: (dictionaryPage?.uncompressed ?? 0) + dataPage.uncompressed,
    };
  });
  return { rows, chunks: await Promise.all(chunks) };
}

function valuesOf(count: number): ThriftStruct {
  return [
    [1, { i32: count }],
    [2, { i32: PLAIN }],
  ];
}

async function page(
  content: Buffer,
  kind: ThriftStruct[number],
): Promise<{ bytes: Buffer; uncompressed: number }> {
  const compressed = await compress(content, LEVEL);
  const header = thriftBytes([
    [1, { i32: kind[0] === 7 ? DICTIONARY_PAGE : DATA_PAGE }],
    [2, { i32: content.length }],
    [3, { i32: compressed.length }],
    kind,
  ]);
  return {
    bytes: Buffer.concat([header, compressed]),
    uncompressed: header.length + content.length,
  };
}

/** Puts row groups into a file of Parquet. */
export class ParquetFile {
  readonly #columns: readonly AnyColumn[];
  readonly #groups: ThriftValue[] = [];
  #offset = 0;
  #rows = 0;

  constructor(columns: readonly AnyColumn[]) {
    this.#columns = columns;
  }

  begin(): Buffer {
    this.#offset = MAGIC.length;
    return MAGIC;
  }

  rowGroup({ rows, chunks }: RowGroup): Buffer[] {
    const buffers: Buffer[] = [];
    const columns: ThriftValue[] = [];
    let total = 0;
    for (const chunk of chunks) {
      const { dictionary, data, uncompressed } = chunk;
      const from = this.#offset;
      this.#offset += dictionary.length + data.length;
      buffers.push(dictionary, data);
      columns.push({ struct: columnChunk(chunk, from) });
      total += uncompressed;
    }
    this.#rows += rows;
    this.#groups.push({
      struct: [
        [1, { list: columns }],
        [2, { i64: total }],
        [3, { i64: rows }],
      ],
    });
    return buffers;
  }

  end(): Buffer {
    const schema = this.#columns.map((column): ThriftValue => ({
      struct: [
        [1, { i32: column.type }],
        [3, { i32: column.isOptional ? OPTIONAL : 0 }],
        [4, { binary: column.name }],
        ...column.meaning(),
      ],
    }));
    const root: ThriftStruct = [
      [4, { binary: 'spans' }],
      [5, { i32: schema.length }],
    ];
    const footer = thriftBytes([
      [1, { i32: VERSION }],
      [2, { list: [{ struct: root }, ...schema] }],
      [3, { i64: this.#rows }],
      [4, { list: this.#groups }],
      [6, { binary: CREATED_BY }],
    ]);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    return Buffer.concat([footer, length, MAGIC]);
  }
}

/** The footer's entry for a column of a row group that begins at an offset of the file. */
function columnChunk(chunk: Chunk, from: number): ThriftStruct {
  const { column, pages, dictionary, data, uncompressed } = chunk;
  const hasDictionary = dictionary.length > 0;
  const encodings = hasDictionary ? [PLAIN, RLE, RLE_DICTIONARY] : [PLAIN, RLE];
  const metadata: ThriftStruct = [
    [1, { i32: column.type }],
    [2, { list: encodings.map((i32) => ({ i32 })) }],
    [3, { list: [{ binary: column.name }] }],
    [4, { i32: GZIP }],
    [5, { i64: pages.values }],
    [6, { i64: uncompressed }],
    [7, { i64: dictionary.length + data.length }],
    [9, { i64: from + dictionary.length }],
    ...(hasDictionary ? ([[11, { i64: from }]] as const) : []),
    ...(pages.range === undefined
      ? []
      : ([
          [
            12,
            {
              struct: [
                [5, { binary: pages.range.greatest }],
                [6, { binary: pages.range.least }],
              ],
            },
          ],
        ] as const)),
  ];
  return [
    [2, { i64: from }],
    [3, { struct: metadata }],
  ];
}
