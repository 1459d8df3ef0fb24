import { rowAt } from '../../index/index-row.js';
import type { LookIndex, Source } from '../../index/look-index.js';
import { errorsOfTrace } from '../../report/trace-report.js';
import { traceDigits, tracesThatBegin } from '../../report/trees/find-trace.js';
import { oneTrace } from '../../report/trees/one-trace.js';
import type { OneTrace } from '../../report/trees/one-trace.js';
import type { ClockError, TraceAnswer, WaterfallRow } from '../../wire/view-answers.js';
import { type Route, WrongQuestion } from '../route.js';
import { rowOfQuestion } from '../rows/row-key.js';

/** More lines nobody reads. */
const MOST_ROWS = 20_000;
/** Pauses of an answer: a long trace may have met many. */
const MOST_PAUSES = 10_000;

/** A trace as a tree, with the critical path: by the first digits of its `id`, or the trace of a `row` and `key`. */
export const traceRoute: Route = {
  path: '/data/trace',
  method: 'GET',
  async answer({ recording: { index }, query }) {
    const id = query.text('id');
    const row = id === undefined ? rowOfQuestion(index, query) : rowOfTrace(index, id);
    return { json: await traceOf(index, row) };
  },
};

/** @throws WrongQuestion unless one trace begins with these digits. */
function rowOfTrace(index: LookIndex, text: string): number {
  const digits = traceDigits(text);
  if (digits === undefined) throw new WrongQuestion(`no id of a trace: ${JSON.stringify(text)}`);
  const [traceId, ...others] = tracesThatBegin(index, digits);
  if (traceId === undefined) throw new WrongQuestion(`no trace begins with ${digits}`, 404);
  if (others.length > 0) throw new WrongQuestion(`several traces begin with ${digits}`);
  return index.rowsOfTrace(traceId)[0]!;
}

async function traceOf(index: LookIndex, row: number): Promise<TraceAnswer> {
  const one = await oneTrace(index, row, { maxRows: MOST_ROWS, unfolds: true });
  const { trace, top, spans } = one;
  const begin = spans.reduce((least, { start }) => Math.min(least, start), Infinity);
  return {
    ...trace,
    rows: waterfallRows(index, one, begin),
    top,
    begin,
    errors: trace.traceId === null ? [] : (await errorsOfTrace(index, trace.traceId)).types,
    clocks: clockError(index, one),
  };
}

function waterfallRows(
  index: LookIndex,
  { trace, rows, spans, longest, interruptions }: OneTrace,
  begin: number,
): WaterfallRow[] {
  let pauses = 0;
  return trace.rows.map((row): WaterfallRow => {
    const at = longest.get(row)!;
    const { start, end, stall } = spans[at]!;
    const own = rows[at];
    const isMany = row.repeated > 1 || own === undefined || pauses >= MOST_PAUSES;
    const met = isMany ? [] : interruptions.pauses(rowAt(index, own).track, start, end);
    pauses += met.length;
    return {
      ...row,
      start: row.start + begin,
      row: own ?? stall ?? null,
      source: own === undefined ? null : index.partOf(own).source.number,
      pauses: met.map((pause) => [
        pause.kind,
        Math.max(start, pause.start),
        Math.min(end, pause.end),
      ]),
    };
  });
}

/** The child of another process that seems to begin the longest before its parent. */
function clockError(index: LookIndex, { rows, spans }: OneTrace): ClockError | null {
  let clocks: ClockError | null = null;
  for (const [at, row] of rows.entries()) {
    const { parent, start } = spans[at]!;
    if (parent < 0 || parent >= rows.length) continue;
    const early = spans[parent]!.start - start;
    if (early <= (clocks?.early ?? 0)) continue;
    const [child, above] = [index.partOf(row).source, index.partOf(rows[parent]!).source];
    // Within a process there is one clock.
    if (child === above) continue;
    clocks = { early, parent: processText(above), child: processText(child) };
  }
  return clocks;
}

/** `stock on host-b`, as far as the trace says it. */
function processText({ service, pid, host }: Source): string {
  const process = service ?? (pid === undefined ? 'a process' : `process ${pid}`);
  return host === undefined ? process : `${process} on ${host}`;
}
