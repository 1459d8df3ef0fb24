import { addToList } from '../../../core/map-entries.js';
import type { TreeRow, TreeSpan, WaitedFor } from '../shape/trace-shape.js';
import { longestOfTree } from './longest-of-tree.js';
import { selfTime, SpanFamily, waitedTimes } from './span-family.js';

interface TraceTree {
  rows: TreeRow[];
  /** By row: the longest of the spans that it is for. */
  longest: ReadonlyMap<TreeRow, number>;
  omitted: number;
  waitedFor: WaitedFor[];
}

/** Of a tree that is cut, so many times the rows are looked at for the longest. */
const LOOKED_AT = 20;
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
    addToList(byName, name, at);
  }
  for (const at of siblings) {
    const same = byName.get(nameOf(at))!;
    if (same.length <= MAX_SIBLINGS) yield [at];
    else if (same[0] === at) yield same;
  }
}

function lengthOf({ start, end }: TreeSpan): number {
  return end - start;
}

function rowOf(
  together: readonly number[],
  spans: readonly TreeSpan[],
  family: SpanFamily,
  waited: Float64Array,
  begin: number,
  depth: number,
): TreeRow {
  const { kind, name, system, target, service, start, missingParent } = spans[together[0]!]!;
  const members = together.map((at) => spans[at]!);
  const longest = members.reduce((most, each) => (lengthOf(each) > lengthOf(most) ? each : most));
  const sum = (of: (span: TreeSpan, at: number) => number): number =>
    members.reduce((total, span, i) => total + of(span, together[i]!), 0);
  return {
    kind,
    depth,
    name,
    system,
    target,
    service,
    start: start - begin,
    duration: sum(({ start: from, end }) => end - from),
    self: sum((_, at) => selfTime(at, spans, family)),
    waited: sum((_, at) => waited[at]!),
    status: members.some(({ status }) => status === 'error') ? 'error' : members[0]!.status,
    unfinished: members.some(({ unfinished }) => unfinished),
    missingParent,
    stalls: sum(({ stalls }) => stalls),
    collections: sum(({ collections }) => collections),
    repeated: together.length,
    heldBy: longest.heldBy ?? null,
  };
}

/**
 * The tree of a trace, and what its longest span waited for.
 *
 * @param slow number of the span whose critical path is wanted.
 * @param maxRows of the tree: the longest, and those above them.
 * @param unfolds whether the siblings that one row is for have rows below it.
 */
export function traceTree(
  spans: readonly TreeSpan[],
  slow: number,
  maxRows: number,
  unfolds = false,
): TraceTree {
  const family = new SpanFamily(spans);
  const begin = spans.reduce((least, { start }) => Math.min(least, start), Infinity);
  const waited = waitedTimes(spans, family, slow);
  const rows: TreeRow[] = [];
  const longestOf = new Map<TreeRow, number>();
  const waiting: { siblings: Iterator<number[]>; depth: number }[] = [
    { siblings: shownSiblings(family.tops, spans), depth: 0 },
  ];
  while (waiting.length > 0 && rows.length < LOOKED_AT * maxRows) {
    const { siblings, depth } = waiting.at(-1)!;
    const next = siblings.next();
    if (next.done === true) {
      waiting.pop();
      continue;
    }
    const row = rowOf(next.value, spans, family, waited, begin, depth);
    rows.push(row);
    const length = (at: number): number => lengthOf(spans[at]!);
    longestOf.set(
      row,
      next.value.reduce((most, at) => (length(at) > length(most) ? at : most)),
    );
    if (next.value.length > 1) {
      const alone = next.value.map((at) => [at]).values();
      if (unfolds) waiting.push({ siblings: alone, depth: depth + 1 });
    } else {
      const children = family.children[next.value[0]!]!;
      if (children.length > 0) {
        waiting.push({ siblings: shownSiblings(children, spans), depth: depth + 1 });
      }
    }
  }
  const tally = new WaitTally();
  tally.add(spans, waited, slow);
  const shown = longestOfTree(rows, maxRows);
  const omitted = shown.reduce(
    (left, { repeated }) => left - (unfolds && repeated > 1 ? 0 : repeated),
    spans.length,
  );
  return { rows: shown, longest: longestOf, omitted, waitedFor: tally.longest };
}

/** Names by which it is reported. */
const MOST_NAMES = 5;

/** Sums the time of critical paths by what took it. */
export class WaitTally {
  readonly #byName = new Map<string, WaitedFor>();
  #all = 0;

  /**
   * @param waited what each span took of the critical path.
   * @param top the span that waited.
   * @param weight how often it counts: more than once if it is a sample of many.
   */
  add(spans: readonly TreeSpan[], waited: Float64Array, top: number, weight = 1): void {
    for (const [at, { kind, name, system, target, service }] of spans.entries()) {
      const time = weight * waited[at]!;
      if (time === 0) continue;
      const isItself = at === top;
      const key = isItself ? '' : [kind, service, system, target, name].join('\n');
      const entry = this.#byName.get(key);
      this.#all += time;
      if (entry !== undefined) entry.time += time;
      else this.#byName.set(key, { kind, name, system, target, service, isItself, time, share: 0 });
    }
  }

  /** The part of all time that some of it took. */
  shareOf(is: (entry: WaitedFor) => boolean): number {
    if (this.#all === 0) return 0;
    const wanted = [...this.#byName.values()].filter(is);
    return wanted.reduce((sum, { time }) => sum + time, 0) / this.#all;
  }

  /** The longest first. */
  get longest(): WaitedFor[] {
    const sorted = [...this.#byName.values()].sort((a, b) => b.time - a.time);
    return sorted
      .slice(0, MOST_NAMES)
      .map((entry) => ({ ...entry, share: entry.time / this.#all }));
  }
}
