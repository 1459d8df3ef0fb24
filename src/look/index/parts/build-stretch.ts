import { closeSync } from 'node:fs';
import { openRegularFile } from '../../../core/files/regular-file.js';
import { HephScan } from '../../../spans/read/scan/heph-scan.js';
import { HephWalk } from '../../../spans/read/scan/heph-walk.js';
import { RowColumns } from '../../../rows/row-columns.js';
import { TraceClock } from '../../../spans/read/scan/trace-clock.js';
import type { ClockState } from '../../../spans/read/scan/trace-clock.js';
import { buildPart } from './build-part.js';
import { ColumnMemory } from './column-memory.js';
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

/** Memory to build parts in, one after the other. */
export class StretchMemory {
  readonly rows = new RowColumns();
  readonly columns = new ColumnMemory();
}

/**
 * Builds the part of a stretch.
 *
 * @param memory has the part until another one is built in it.
 * @param times is where the clock of the stretch goes on.
 */
export function buildStretch(
  { path, from, to, records, clock }: Stretch,
  memory = new StretchMemory(),
  times = new TraceClock(clock),
): BuiltPart {
  const file = openRegularFile(path, 'followed');
  try {
    const walk = new HephWalk(file, from, to);
    memory.rows.clear(records);
    const scan = new HephScan(times, from, memory.rows);
    for (let run = walk.next(); run !== undefined; run = walk.next()) {
      if (run.passedOver > 0) scan.noteFaulty(run.offset - run.passedOver);
      scan.take(run.bytes, run.view, run.from, run.to, run.offset);
    }
    return buildPart(scan, from, to, memory.columns);
  } finally {
    closeSync(file.fd);
  }
}
