import { rowAt } from '../../index/index-row.js';
import { type LookIndex, MISSING_PARENT, NO_PARENT } from '../../index/look-index.js';
import { inTurns, type Steps } from '../../index/turns.js';
import { callTarget } from '../../report/names/call-target.js';
import { POOLS } from '../../../spans/read/pool-names.js';
import { holderOf } from '../../report/trees/pool-holder.js';
import { CalledThreads } from '../../report/trees/called-threads.js';
import { reasonOf, spansAround } from '../../report/slow/delayed-spans.js';
import { ranText } from '../../report/print/interruption-texts.js';
import { isInterruption } from '../../report/names/interruption-kinds.js';
import { InterruptionTally } from '../../report/threads/interruptions.js';
import type { NamedCount } from '../../report/shape/thread-shape.js';
import { requestPath, rowName } from '../../report/names/row-name.js';
import { RowSelection } from '../../report/measures/selection.js';
import { MOST_ROW_NAMES, type RowAnswer, type RowNamesAnswer } from '../../wire/answers.js';
import type { Route } from '../route.js';
import { openMeanwhile } from '../rows/open-meanwhile.js';
import { keyOfRow, rowOfQuestion } from '../rows/row-key.js';

/** Requests that a thread has not read begin after the stall: so long after it they are looked for, in ns. */
const LEAST_AFTER = 1e9;

/** Finds the spans that ran during a stall or a collection, and those that it delayed. */
async function spansAroundRow(
  index: LookIndex,
  row: number,
): Promise<Pick<RowAnswer, 'ran' | 'delayed'>> {
  const own = rowAt(index, row);
  const { track, start, end } = own;
  const window = { from: start, to: end + Math.max(end - start, LEAST_AFTER) };
  const selection = await RowSelection.of(index, window);
  const { ran, delayed } = await inTurns(around(selection, { track, start, end }));
  return { ran: ranText({ ...reasonOf(index, own), ran }), delayed };
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

/** Attributes of a span: nobody reads more. */
const MOST_ATTRIBUTES = 1000;

/** All that is known of one row: `row`, and `key` if it may have another number by now. */
export const rowRoute: Route = {
  path: '/data/row',
  method: 'GET',
  async answer({ recording: { index }, query }) {
    return { json: await describe(index, rowOfQuestion(index, query)) };
  },
};

async function describe(index: LookIndex, row: number): Promise<RowAnswer> {
  const own = rowAt(index, row);
  const { parent, name, traceId, spanId } = own;
  const interrupts = traceId !== null && isInterruption(name);
  return {
    row,
    key: keyOfRow(index, row),
    track: own.track,
    lane: own.part.lane[own.at]!,
    name,
    start: own.start,
    duration: own.duration,
    unfinished: own.unfinished,
    status: own.status,
    parent: parent === NO_PARENT ? 'root' : parent === MISSING_PARENT ? 'missing' : parent,
    path: requestPath(index, row),
    target: own.isCall ? callTarget(index, row) : null,
    isAlone: interrupts || (parent === NO_PARENT && isOnlyOne(index, row)),
    openMeanwhile: interrupts ? openMeanwhile(index, row) : { count: 0, rows: [] },
    ...(interrupts ? await spansAroundRow(index, row) : { ran: '', delayed: [] }),
    heldBy: POOLS.has(name) ? holderOf(index, row) : null,
    traceId: traceId ?? undefined,
    spanId,
    details: index.details(row, MOST_ATTRIBUTES),
  };
}

/** Whether a trace has no other row. Children follow as a rule, which are found at once. */
function isOnlyOne(index: LookIndex, row: number): boolean {
  const { part, at, traceId } = rowAt(index, row);
  if (traceId === null) return true;
  if (part.trace.includes(part.trace[at]!, at + 1)) return false;
  return index.rowsOfTrace(traceId).length === 1;
}

/** Answers with the names of single rows, `rows` as `0-3,7`: a request with its path, a call with its target. */
export const rowNamesRoute: Route = {
  path: '/data/row-names',
  method: 'GET',
  answer({ recording: { index }, query }) {
    const rows = query.integers('rows', index.rows, MOST_ROW_NAMES);
    const names = rows.map((row) => ({
      start: rowAt(index, row).start,
      name: rowName(index, row),
    }));
    const json: RowNamesAnswer = { names };
    return { json };
  },
};
