import { rowAt } from '../../index/index-row.js';
import type { LookIndex, Source } from '../../index/look-index.js';
import { inTurns } from '../../index/turns.js';
import { TargetBudget, nameTargets } from '../../report/names/call-target.js';
import { BlockedSpans } from '../../report/trees/blocked-spans.js';
import { InterruptionTally } from '../../report/threads/interruptions.js';
import { requestPath } from '../../report/names/row-name.js';
import { RowSelection } from '../../report/measures/selection.js';
import { SpanFamily, traceSpans, waitedTimes } from '../../report/trees/span-family.js';
import type {
  ClockError,
  TraceAnswer,
  WaterfallPause,
  WaterfallRow,
} from '../../wire/panel-answers.js';
import type { Route } from '../route.js';
import { rowOfQuestion } from '../rows/row-key.js';

/** More lines nobody reads. */
const MOST_ROWS = 2000;
/** Calls of which it is read whom they have asked. */
const MOST_TARGETS = 500;

/** The trace of a row, `row` and `key`, as a tree, with the critical path of its longest span without a parent. */
export const traceRoute: Route = {
  path: '/data/trace',
  method: 'GET',
  async answer({ recording: { index }, query }) {
    return { json: await traceOf(index, rowOfQuestion(index, query)) };
  },
};

async function traceOf(index: LookIndex, row: number): Promise<TraceAnswer> {
  const { traceId } = rowAt(index, row);
  const { rows, spans, all } = traceSpans(index, row, traceId);
  const from = spans.reduce((least, { start }) => Math.min(least, start), Infinity);
  const to = spans.reduce((most, { end }) => Math.max(most, end), 0);
  const selection = await RowSelection.of(index, { from, to });
  const interruptions = await inTurns(InterruptionTally.of(selection));
  new BlockedSpans(index, interruptions).addTo(rows, spans);
  const family = new SpanFamily(spans);
  const length = (at: number): number => spans[at]!.end - spans[at]!.start;
  const longest = family.tops.reduce((most, at) => (length(at) > length(most) ? at : most));
  const waited = waitedTimes(spans, family, longest);
  const shown: WaterfallRow[] = [];
  const lines = new Map<number, WaterfallRow>();
  const sourceOf = (at: number): Source => index.partOf(rows[at]!).source;
  nameTargets(index, rows, spans, new TargetBudget(MOST_TARGETS));
  let clocks: ClockError | null = null;
  const waiting = family.tops.map((at) => ({ at, depth: 0 })).reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { at, depth } = next;
    const span = spans[at]!;
    if (at >= rows.length) {
      const { kind, name, start, end } = span;
      if (kind !== 'span') lines.get(span.parent)?.pauses.push({ kind, name, start, end });
      continue;
    }
    const children = family.children[at]!;
    // The one that is pushed last comes next.
    for (const child of children.toReversed()) {
      const early = span.start - spans[child]!.start;
      // Within a process there is one clock.
      if (early > (clocks?.early ?? 0) && sourceOf(child) !== sourceOf(at)) {
        clocks = { early, parent: processText(sourceOf(at)), child: processText(sourceOf(child)) };
      }
      waiting.push({ at: child, depth: depth + 1 });
    }
    if (shown.length === MOST_ROWS) continue;
    const { name, target, service, start, end, status, unfinished, missingParent } = span;
    const isCalled = span.parent >= 0 && sourceOf(span.parent) !== sourceOf(at);
    // What kept the called thread from its request.
    const before: WaterfallPause[] = isCalled
      ? interruptions.pauses(rowAt(index, rows[at]!).track, spans[span.parent]!.start, start)
      : [];
    const call = lines.get(span.parent);
    if (call !== undefined && waited[at]! > 0) {
      const paused = before.reduce((sum, pause) => sum + pause.end - pause.start, 0);
      call.waited = Math.max(0, call.waited - paused);
    }
    const line: WaterfallRow = {
      row: rows[at]!,
      depth,
      name,
      path: requestPath(index, rows[at]!),
      target,
      service,
      source: sourceOf(at).number,
      host: sourceOf(at).host ?? null,
      start,
      duration: end - start,
      waited: waited[at]!,
      status,
      unfinished,
      missingParent,
      pauses: before,
    };
    lines.set(at, line);
    shown.push(line);
  }
  return { traceId, rows: shown, omitted: Math.max(0, all - shown.length), clocks };
}

/** `stock on host-b`, as far as the trace says it. */
function processText({ service, pid, host }: Source): string {
  const process = service ?? (pid === undefined ? 'a process' : `process ${pid}`);
  return host === undefined ? process : `${process} on ${host}`;
}
