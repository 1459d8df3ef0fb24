import type { TreeRow, WaitedFor } from './report-shape.js';
import { SpanFamily, selfTime, waitedTimes } from './span-family.js';
import type { TreeSpan } from './span-family.js';
import { WaitTally } from './wait-tally.js';

export interface TraceTree {
  rows: TreeRow[];
  omitted: number;
  waitedFor: WaitedFor[];
}

/** More siblings of one name become one row. */
const MAX_SIBLINGS = 3;

/** Siblings as they are shown: one by one, or all of a name together. */
function* shownSiblings(
  siblings: readonly number[],
  spans: readonly TreeSpan[],
): Generator<number[], void> {
  const byName = new Map<string, number[]>();
  const nameOf = (at: number): string => {
    const { kind, name, system, target } = spans[at]!;
    return [name, kind, system, target].join('\n');
  };
  for (const at of siblings) {
    const name = nameOf(at);
    const same = byName.get(name);
    if (same === undefined) byName.set(name, [at]);
    else same.push(at);
  }
  for (const at of siblings) {
    const same = byName.get(nameOf(at))!;
    if (same.length <= MAX_SIBLINGS) yield [at];
    else if (same[0] === at) yield same;
  }
}

function rowOf(
  together: readonly number[],
  spans: readonly TreeSpan[],
  { children }: SpanFamily,
  waited: Float64Array,
  begin: number,
  depth: number,
): TreeRow {
  const { kind, name, system, target, service, start, missingParent } = spans[together[0]!]!;
  const members = together.map((at) => spans[at]!);
  const sum = (of: (span: TreeSpan, at: number) => number): number =>
    members.reduce((total, span, place) => total + of(span, together[place]!), 0);
  return {
    kind,
    depth,
    name,
    system,
    target,
    service,
    start: start - begin,
    duration: sum(({ start: from, end }) => end - from),
    self: sum((span, at) =>
      selfTime(
        span,
        children[at]!.map((child) => spans[child]!),
      ),
    ),
    waited: sum((_, at) => waited[at]!),
    status: members.some(({ status }) => status === 'error') ? 'error' : members[0]!.status,
    unfinished: members.some(({ unfinished }) => unfinished),
    missingParent,
    stalls: sum(({ stalls }) => stalls),
    collections: sum(({ collections }) => collections),
    repeated: together.length,
  };
}

/**
 * The tree of a trace, and what its longest span waited for.
 *
 * @param slow place of the span whose critical path is wanted.
 * @param maxRows of the tree.
 */
export function traceTree(spans: readonly TreeSpan[], slow: number, maxRows: number): TraceTree {
  const family = new SpanFamily(spans);
  const begin = spans.reduce((least, { start }) => Math.min(least, start), Infinity);
  const waited = waitedTimes(spans, family, slow);
  const rows: TreeRow[] = [];
  let shown = 0;
  const waiting = [{ siblings: shownSiblings(family.tops, spans), depth: 0 }];
  while (waiting.length > 0 && rows.length < maxRows) {
    const { siblings, depth } = waiting.at(-1)!;
    const next = siblings.next();
    if (next.done === true) {
      waiting.pop();
      continue;
    }
    rows.push(rowOf(next.value, spans, family, waited, begin, depth));
    shown += next.value.length;
    if (next.value.length === 1) {
      const children = family.children[next.value[0]!]!;
      if (children.length > 0) {
        waiting.push({ siblings: shownSiblings(children, spans), depth: depth + 1 });
      }
    }
  }
  const tally = new WaitTally();
  tally.add(spans, waited, slow);
  return { rows, omitted: spans.length - shown, waitedFor: tally.longest };
}
