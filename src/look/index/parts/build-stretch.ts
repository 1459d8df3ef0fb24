import { closeSync } from 'node:fs';
import { openRegularFile } from '../../../core/files/regular-file.js';
import { HephScan } from '../scan/heph-scan.js';
import { HephWalk } from '../scan/heph-walk.js';
import { RowColumns } from '../scan/row-columns.js';
import { TraceClock } from '../scan/trace-clock.js';
import type { ClockState } from '../scan/trace-clock.js';
import { buildPart } from './build-part.js';
import type { BuiltPart } from './part-columns.js';

/** A stretch of a Heph file, of whole records. */
export interface Stretch {
  path: string;
  from: number;
  to: number;
  /** Records in it. */
  records: number;
  /** What the records before it have said of times. */
  clock: ClockState;
}

/**
 * Builds the part of a stretch.
 *
 * @param rows columns to use again: those of a large part take 100 MB.
 */
export function buildStretch(
  { path, from, to, records, clock }: Stretch,
  rows = new RowColumns(records),
): BuiltPart {
  const { fd } = openRegularFile(path, 'followed');
  try {
    const walk = new HephWalk(fd, from, to);
    rows.clear(records);
    const scan = new HephScan(new TraceClock(clock), from, rows);
    for (let run = walk.next(); run !== undefined; run = walk.next()) {
      scan.take(run.bytes, run.view, run.from, run.to, run.offset);
    }
    return buildPart(scan, from, to);
  } finally {
    closeSync(fd);
  }
}
