import { closeSync } from 'node:fs';
import { openRegularFile } from '../../../core/files/regular-file.js';
import { HephScan } from '../../../spans/read/scan/heph-scan.js';
import { HephWalk, type WalkEnd } from '../../../spans/read/scan/heph-walk.js';
import { RowColumns } from '../../../rows/row-columns.js';
import { TraceClock } from '../../../spans/read/trace-clock.js';
import type { ClockState } from '../../../spans/read/trace-clock.js';
import { buildPart } from './build-part.js';
import { ColumnMemory } from './column-memory.js';
import type { BuiltPart } from './part-columns.js';

/** Rows of a part, about. */
export const PART_ROWS = 1 << 20;
/** Bytes of a part's records: offsets in it are u32. */
const PART_BYTES = 512 << 20;

/** A stretch of a Heph file, of whole records. */
export interface Stretch {
  path: string;
  from: number;
  to: number;
  /** Records in it. */
  records: number;
  /** The state of the clock after the records before it. */
  clock: ClockState;
}

/** How a file ends that was read: where, why there, and what its records have said of times. */
export interface ReadEnd {
  end: number;
  ended: WalkEnd;
  clock: ClockState;
}

/**
 * Cuts a Heph file into stretches from an offset on.
 *
 * @param state what the records before the offset have said of times; undefined: nothing.
 */
export function* stretchesOf(
  path: string,
  begin: number,
  end: number,
  state?: ClockState,
): Generator<Stretch, ReadEnd> {
  const clock = new TraceClock(state);
  const file = openRegularFile(path, 'followed');
  try {
    const walk = new HephWalk(file, begin, end, clock);
    let from = begin;
    let records = 0;
    let before = clock.state;
    for (;;) {
      const run = walk.next();
      records += run?.count ?? 0;
      const isFull = records >= PART_ROWS || walk.offset - from >= PART_BYTES;
      if (records > 0 && (isFull || run === undefined)) {
        yield { path, from, to: walk.offset, records, clock: before };
        from = walk.offset;
        records = 0;
        before = clock.state;
      }
      if (run === undefined) return { end: walk.offset, ended: walk.ended, clock: clock.state };
    }
  } finally {
    closeSync(file.fd);
  }
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
