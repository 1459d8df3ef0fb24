import { BLOCK_ROWS, buildAttributeBlocks } from './attribute-blocks.js';
import { UNFINISHED_BIT } from '../look-index.js';
import { ColumnMemory } from './column-memory.js';
import { orderRows } from './order-rows.js';
import { parentsOfPart } from './parents-of-part.js';
import type { BuiltPart, PartColumns, PartFacts } from './part-columns.js';
import type { RowBatch } from '../../../rows/row-batch.js';

/**
 * Orders the rows that a scan has read, and joins the parents among them.
 *
 * @param memory has the columns, until another part is built in it.
 */
export function buildPart(
  scan: RowBatch,
  from: number,
  to: number,
  memory = new ColumnMemory(),
): BuiltPart {
  const { rows } = scan;
  const order = orderRows(rows.start, rows.duration, rows.count, memory);
  const blocks = buildAttributeBlocks(rows, order);
  const { length } = order;
  const orderedWords = (name: 'name' | 'route' | 'track' | 'trace' | 'recordOffset'): Uint32Array =>
    inOrder(rows[name], order, memory.words(name, length));
  const spanId = pairsInOrder(rows.spanId, order, memory.words('spanId', 2 * length));
  const trace = orderedWords('trace');
  const start = inOrder(rows.start, order, memory.doubles('start', length));
  const duration = inOrder(rows.duration, order, memory.doubles('duration', length));
  const { bytes: nameBytes, ends: nameEnds, systems: nameSystems } = scan.names.take();
  const blockEnds = endsOfBlocks(start, duration);
  const { hasCycles, ...parents } = parentsOfPart(
    rows,
    order,
    trace,
    scan.traces.count,
    spanId,
    memory,
  );
  const columns: PartColumns = {
    start,
    duration,
    spanId,
    name: orderedWords('name'),
    route: orderedWords('route'),
    track: orderedWords('track'),
    trace,
    flags: inOrder(rows.flags, order, memory.bytes('flags', length)),
    recordOffset: orderedWords('recordOffset'),
    ...parents,
    nameBytes,
    nameEnds,
    nameSystems,
    traceIds: scan.traces.take(),
    filterBits: blocks.bits,
    filterEnds: blocks.ends,
    blockEnds,
  };
  const facts: PartFacts = {
    rows: order.length,
    from,
    to,
    tracks: scan.tracks.map(({ kind, name, thread }) => ({ kind, name, thread })),
    counts: [...scan.counts.values()],
    notes: scan.notes,
    faulty: scan.faulty,
    firstFaulty: scan.firstFaulty,
    unfinished: countOf(columns.flags, UNFINISHED_BIT),
    hasCycles,
    firstStart: start[0] ?? 0,
    lastEnd: blockEnds.reduce((last, end) => Math.max(last, end), 0),
    firstEnd: rows.count === 0 ? 0 : rows.start[0]! + rows.duration[0]!,
  };
  return { facts, columns, order };
}

function countOf(flags: Uint8Array, bit: number): number {
  let count = 0;
  for (let row = 0; row < flags.length; row++) if ((flags[row]! & bit) !== 0) count++;
  return count;
}

function endsOfBlocks(start: Float64Array, duration: Float64Array): Float64Array {
  const ends = new Float64Array(Math.ceil(start.length / BLOCK_ROWS)).fill(-Infinity);
  for (let row = 0; row < start.length; row++) {
    const block = Math.floor(row / BLOCK_ROWS);
    const end = start[row]! + duration[row]!;
    if (end > ends[block]!) ends[block] = end;
  }
  return ends;
}

function inOrder<Column extends Float64Array | Uint32Array | Uint8Array>(
  column: Column,
  order: Uint32Array,
  ordered: Column,
): Column {
  for (let row = 0; row < order.length; row++) ordered[row] = column[order[row]!]!;
  return ordered;
}

function pairsInOrder(column: Uint32Array, order: Uint32Array, ordered: Uint32Array): Uint32Array {
  for (let row = 0; row < order.length; row++) {
    const from = 2 * order[row]!;
    ordered[2 * row] = column[from]!;
    ordered[2 * row + 1] = column[from + 1]!;
  }
  return ordered;
}
