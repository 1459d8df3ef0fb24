import { BLOCK_ROWS, buildAttributeBlocks } from './attribute-blocks.js';
import { IdTable } from '../scan/id-table.js';
import { MISSING_PARENT, NO_PARENT, UNFINISHED_BIT } from '../look-index.js';
import { orderRows } from './order-rows.js';
import type { BuiltPart, PartColumns, PartFacts } from './part-columns.js';
import type { ReadRows } from '../scan/read-rows.js';
import type { RowColumns } from '../scan/row-columns.js';

/** Orders the rows that a scan has read, and joins the parents among them. */
export function buildPart(scan: ReadRows, from: number, to: number): BuiltPart {
  const { rows } = scan;
  const order = orderRows(rows.start, rows.duration, rows.count);
  const blocks = buildAttributeBlocks(rows, order);
  const spanId = orderedPairs(rows.spanId, order);
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
    trace: orderedWords(rows.trace, order),
    flags: orderedBytes(rows.flags, order),
    place: orderedWords(rows.place, order),
    ...joinParents(rows, order, spanId),
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
    unfinished: rows.flags.reduce((sum, flags) => sum + ((flags & UNFINISHED_BIT) >> 5), 0),
    firstStart: start[0] ?? 0,
    lastEnd: blockEnds.reduce((last, end) => Math.max(last, end), 0),
  };
  return { facts, columns };
}

function joinParents(
  rows: RowColumns,
  order: Uint32Array,
  spanId: Uint32Array,
): { parent: Int32Array; missing: Uint32Array } {
  const table = new IdTable(spanId);
  const parent = new Int32Array(order.length);
  let missing = new Uint32Array(3 * 1024);
  let used = 0;
  for (let row = 0; row < order.length; row++) {
    const before = order[row]!;
    const high = rows.parentId[2 * before]!;
    const low = rows.parentId[2 * before + 1]!;
    if ((high | low) === 0) {
      parent[row] = NO_PARENT;
      continue;
    }
    const found = table.find(high, low);
    if (found !== -1 && rows.trace[order[found]!] === rows.trace[before]) {
      parent[row] = found;
      continue;
    }
    parent[row] = MISSING_PARENT;
    if (used === missing.length) {
      const larger = new Uint32Array(2 * missing.length);
      larger.set(missing);
      missing = larger;
    }
    missing[used++] = row;
    missing[used++] = high;
    missing[used++] = low;
  }
  cutCycles(parent);
  return { parent, missing: missing.slice(0, used) };
}

const IN_WORK = 1;
const DONE = 2;

/** The parent of a span that is its own ancestor counts as missing. */
function cutCycles(parent: Int32Array): void {
  const states = new Uint8Array(parent.length);
  for (let first = 0; first < parent.length; first++) {
    let row = first;
    let below = first;
    while (row >= 0 && states[row] === 0) {
      states[row] = IN_WORK;
      below = row;
      row = parent[row]!;
    }
    if (row >= 0 && states[row] === IN_WORK) parent[below] = MISSING_PARENT;
    for (row = first; row >= 0 && states[row] === IN_WORK; row = parent[row]!) states[row] = DONE;
  }
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
