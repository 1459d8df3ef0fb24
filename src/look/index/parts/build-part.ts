import { BLOCK_ROWS, buildAttributeBlocks } from './attribute-blocks.js';
import { UNFINISHED_BIT } from '../look-index.js';
import { orderRows } from './order-rows.js';
import { parentsOfPart } from './parents-of-part.js';
import type { BuiltPart, PartColumns, PartFacts } from './part-columns.js';
import type { ReadRows } from '../scan/read-rows.js';

/** Orders the rows that a scan has read, and joins the parents among them. */
export function buildPart(scan: ReadRows, from: number, to: number): BuiltPart {
  const { rows } = scan;
  const order = orderRows(rows.start, rows.duration, rows.count);
  const blocks = buildAttributeBlocks(rows, order);
  const spanId = orderedPairs(rows.spanId, order);
  const trace = orderedWords(rows.trace, order);
  const start = orderedDoubles(rows.start, order);
  const duration = orderedDoubles(rows.duration, order);
  const { bytes: nameBytes, ends: nameEnds } = scan.names.take();
  const details = scan.details?.take();
  const blockEnds = endsOfBlocks(start, duration);
  const columns: PartColumns = {
    start,
    duration,
    spanId,
    name: orderedWords(rows.name, order),
    route: orderedWords(rows.route, order),
    track: orderedWords(rows.track, order),
    trace,
    flags: orderedBytes(rows.flags, order),
    place: orderedWords(rows.place, order),
    ...parentsOfPart(rows, order, trace, scan.traces.count, spanId),
    nameBytes,
    nameEnds,
    traceIds: scan.traces.take(),
    filterBits: blocks.bits,
    filterEnds: blocks.ends,
    blockEnds,
    detailBytes: details?.bytes ?? new Uint8Array(0),
    detailEnds: details?.ends ?? new Uint32Array(0),
  };
  const facts: PartFacts = {
    rows: order.length,
    from,
    to,
    tracks: scan.tracks,
    counts: [...scan.counts.values()],
    notes: scan.notes,
    faulty: scan.faulty,
    unfinished: countOf(columns.flags, UNFINISHED_BIT),
    firstStart: start[0] ?? 0,
    lastEnd: blockEnds.reduce((last, end) => Math.max(last, end), 0),
  };
  return { facts, columns };
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

function orderedDoubles(column: Float64Array, order: Uint32Array): Float64Array {
  const ordered = new Float64Array(order.length);
  for (let row = 0; row < order.length; row++) ordered[row] = column[order[row]!]!;
  return ordered;
}

function orderedWords(column: Uint32Array, order: Uint32Array): Uint32Array {
  const ordered = new Uint32Array(order.length);
  for (let row = 0; row < order.length; row++) ordered[row] = column[order[row]!]!;
  return ordered;
}

function orderedBytes(column: Uint8Array, order: Uint32Array): Uint8Array {
  const ordered = new Uint8Array(order.length);
  for (let row = 0; row < order.length; row++) ordered[row] = column[order[row]!]!;
  return ordered;
}

function orderedPairs(column: Uint32Array, order: Uint32Array): Uint32Array {
  const ordered = new Uint32Array(2 * order.length);
  for (let row = 0; row < order.length; row++) {
    const from = 2 * order[row]!;
    ordered[2 * row] = column[from]!;
    ordered[2 * row + 1] = column[from + 1]!;
  }
  return ordered;
}
