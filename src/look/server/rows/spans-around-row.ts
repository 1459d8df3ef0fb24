import type { LookIndex } from '../../index/look-index.js';
import { inTurns } from '../../index/turns.js';
import type { Steps } from '../../index/turns.js';
import { CalledThreads } from '../../report/called-threads.js';
import { spansAround } from '../../report/delayed-spans.js';
import { InterruptionTally } from '../../report/interruptions.js';
import type { NamedCount } from '../../report/report-shape.js';
import { RowSelection } from '../../report/selection.js';

/** Requests that a thread has not read begin after the stall: so long after it they are looked for, in ns. */
const LEAST_AFTER = 1e9;

/** What ran on the thread of a stall or a collection meanwhile, and what it delayed. */
export async function spansAroundRow(
  index: LookIndex,
  row: number,
): Promise<{ ran: NamedCount[]; delayed: NamedCount[] }> {
  const part = index.partOf(row);
  const at = row - part.firstRow;
  const start = part.start[at]! + part.offset;
  const length = part.duration[at]!;
  const end = start + length;
  const window = { from: start, to: end + Math.max(length, LEAST_AFTER) };
  const selection = await RowSelection.of(index, window);
  return inTurns(around(selection, { track: part.track[at]!, start, end }));
}

function* around(
  selection: RowSelection,
  interval: { track: number; start: number; end: number },
): Steps<{ ran: NamedCount[]; delayed: NamedCount[] }> {
  const interruptions = yield* InterruptionTally.of(selection);
  const called = yield* CalledThreads.of(selection, interruptions);
  const [spans] = yield* spansAround(selection, interruptions, called, [interval]);
  return { ran: spans!.ran, delayed: spans!.delayed };
}
