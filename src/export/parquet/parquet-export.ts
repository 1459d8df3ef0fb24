import type { FoundTrace } from '../../traces/find-traces.js';
import type { ExportOptions } from '../selection.js';
import { SpanStream } from '../span-stream.js';
import { compressRowGroup, ParquetFile } from './parquet-file.js';
import type { RowGroup } from './parquet-file.js';
import { SpanColumns } from './span-columns.js';

/** Rows of a group, and bytes before compression: what is in memory, twice. */
const MAX_ROWS = 1 << 16;
const MAX_BYTES = 48 << 20;
/** Rows between two looks at the bytes, unless a span is large. */
const LOOK_EVERY = 256;
const LARGE_SPAN = 64 << 10;

/** The spans of Heph files as a file of Parquet: one row a span. */
export class ParquetExport {
  readonly stream: SpanStream;

  constructor(traces: readonly FoundTrace[], options: ExportOptions = {}) {
    this.stream = new SpanStream(traces, options);
  }

  /** The bytes of the file. A row group is compressed while the next one is read. */
  async *chunks(): AsyncGenerator<Buffer, void> {
    const columns = new SpanColumns();
    const file = new ParquetFile(columns.all);
    yield file.begin();
    let compressing: Promise<RowGroup> | undefined;
    let rows = 0;
    for (const span of this.stream.read()) {
      columns.add(span);
      rows++;
      if (rows < MAX_ROWS) {
        if (rows % LOOK_EVERY !== 0 && this.stream.bytes < LARGE_SPAN) continue;
        if (columns.size < MAX_BYTES) continue;
      }
      if (compressing !== undefined) yield* file.rowGroup(await compressing);
      compressing = compressRowGroup(columns.all, rows);
      rows = 0;
    }
    if (compressing !== undefined) yield* file.rowGroup(await compressing);
    if (rows > 0) yield* file.rowGroup(await compressRowGroup(columns.all, rows));
    yield file.end();
  }
}
