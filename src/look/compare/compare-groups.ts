import { entryOf } from '../../core/map-entries.js';
import { isCallOf, isError, IndexRow } from '../index/index-row.js';
import { KINDS } from '../../spans/layout.js';
import type { SpanKind } from '../../spans/layout.js';
import { KIND_MASK } from '../index/look-index.js';
import type { IndexPart, LookIndex } from '../index/look-index.js';
import { rowsByPart } from '../index/parts/order-rows.js';
import type { ReleasedRequests } from '../../spans/read/released-requests.js';
import { HTTP } from '../../spans/read/system-of.js';
import { valuesOf } from '../report/names/recorded-attributes.js';
import { SampledCalls } from '../report/names/call-target.js';
import { Distribution } from '../report/measures/distribution.js';
import type { SelectedCounts } from '../report/groups/released-groups.js';
import { isMethod } from '../report/names/request-name.js';
import { CallsByRoute, RequestRoutes } from './calls-a-request.js';
import type { RowRoutes } from './calls-a-request.js';
import { differenceOf, MeanOverTime, moreThanChance, STRETCHES } from './change-test.js';
import type { ComparedGroup, ComparedSide } from './comparison-shape.js';

/** Spans without which a side says nothing. */
const LEAST_SPANS = 5;
/** Smaller changes of a typical span are not named: as a share of its duration, and in ns. */
const LEAST_CHANGE = 0.05;
const LEAST_NS = 50_000;
/** Attributes that have the statement of a database. */
const TEXT = 'db.query.text';
const SUMMARY = 'db.query.summary';
/** Calls of databases of a side whose records are read, taken evenly. */
const MOST_READ = 50_000;
/** Statements of one name that are compared one by one. */
const MOST_STATEMENTS = 50;

/** The spans of one name and service on one side. */
class Side {
  readonly durations = new Distribution(false);
  /** Of the logarithms of durations. */
  readonly logarithms = new MeanOverTime();
  errors = 0;

  add(duration: number, failed: boolean, stretch: number): void {
    this.durations.add(duration);
    if (failed) this.errors += 1;
    this.logarithms.add(Math.log(Math.max(1, duration)), stretch);
  }

  addCounts({ durations, errors }: ReleasedRequests, stretch: number): void {
    for (const [duration, count] of durations) {
      for (let i = 0; i < count; i++) this.add(duration, false, stretch);
    }
    this.errors += errors;
  }

  get figures(): ComparedSide {
    const { durations, errors } = this;
    const [p50, p95] = [durations.percentile(50), durations.percentile(95)];
    return { count: durations.count, errors, p50, p95 };
  }
}

interface Pair {
  name: string;
  /** The spans of one statement among those of the name. */
  statement: string | null;
  service: string | null;
  kind: SpanKind;
  system: string | null;
  /** Of calls that are named by their method alone. */
  calls: SampledCalls | undefined;
  /** Of calls of databases, services and queues. */
  byRoute: CallsByRoute;
  before: Side;
  after: Side;
}

/** Rows of some sources. */
export interface RowsOfSide {
  index: LookIndex;
  /** Ascending. */
  rows: Int32Array;
  /** Numbers of the sources. */
  sources: ReadonlySet<number>;
  /** Counts of requests that were not kept. */
  released?: readonly SelectedCounts[];
}

/**
 * Compares spans with others, by kind, system, name and service: without the service if the two sides have no service in common.
 */
export function compareGroups(
  before: RowsOfSide,
  after: RowsOfSide,
  attributes: readonly string[] = [],
): ComparedGroup[] {
  const pairs: Pairs = { spans: new Map(), states: new Map() };
  const byService = haveCommonService(before, after);
  // What was not kept was counted, but not what it called.
  const isWhole = [before, after].every(({ released = [] }) => released.length === 0);
  if (attributes.length > 0) {
    addValues(pairs.spans, 'before', before, byService, attributes);
    addValues(pairs.spans, 'after', after, byService, attributes);
  } else {
    const routes = isWhole ? new RequestRoutes() : undefined;
    const sides = (['before', 'after'] as const).map((side): ComparedRows => {
      const rows = side === 'before' ? before : after;
      const stretchOf = stretchesOf(rows);
      const ofRows = routes?.add(side, rows, byService, stretchOf);
      return { ...rows, side, byService, stretchOf, routes: ofRows };
    });
    for (const side of sides) addSide(pairs, side);
    for (const pair of comparedStatements(sides)) {
      pairs.spans.set(`statement\n${pairs.spans.size}`, pair);
    }
  }
  const shown = shownPairs(pairs).map((pair) => ({ pair, ...changeOf(pair) }));
  const compared = shown.filter(({ ratio }) => ratio !== null);
  const isMore = moreThanChance(compared.map(({ chance }) => chance));
  const named = new Set(compared.filter(({ isLarge }, at) => isLarge && isMore[at]));
  const groups = shown.map((each): ComparedGroup => {
    const { pair, ratio } = each;
    const {
      name,
      statement,
      service,
      kind,
      system,
      calls: sampled,
      byRoute,
      before: first,
      after: second,
    } = pair;
    const change = named.has(each) ? (ratio!.value > 1 ? 'slower' : 'faster') : 'same';
    return {
      name,
      statement,
      targets: sampled?.targets ?? [],
      service,
      kind,
      system,
      before: first.figures,
      after: second.figures,
      ratio,
      change: ratio === null ? null : change,
      calls: byRoute.compared,
    };
  });
  return groups.sort((a, b) => weight(b) - weight(a) || b.after.count - a.after.count);
}

/** The rows of a side, and how they are compared. */
interface ComparedRows extends RowsOfSide {
  side: 'before' | 'after';
  byService: boolean;
  stretchOf: (start: number) => number;
  /** The routes of requests; undefined: not all were recorded. */
  routes: RowRoutes | undefined;
}

function addSide(pairs: Pairs, compared: ComparedRows): void {
  const { index, rows, sources, released = [], side, byService, stretchOf } = compared;
  const pairsOfTracks = index.tracks.map(
    ({ kind }) => pairs[kind === 'states' ? 'states' : 'spans'],
  );
  for (const { part, from, to } of rowsByPart(index.parts, rows)) {
    if (from === to || !sources.has(part.source.number)) continue;
    const ofName = new Map<Map<string, Pair>, (Pair | undefined)[]>();
    const areMethods = methodNames(part);
    for (let next = from; next < to; next++) {
      const at = rows[next]! - part.firstRow;
      const name = part.name[at]!;
      const own = pairsOfTracks[part.track[at]!]!;
      const kind = Math.min(part.flags[at]! & KIND_MASK, KINDS.length - 1);
      const known = entryOf(ofName, own, () => []);
      const pair = (known[KINDS.length * name + kind] ??= pairOf(
        own,
        part,
        name,
        KINDS[kind]!,
        byService,
      ));
      if (areMethods[name] === 1 && isCallOf(part.flags[at]!)) {
        (pair.calls ??= new SampledCalls()).add(index, rows[next]!);
      }
      if (isCall(KINDS[kind]!)) addCall(pair, compared, new IndexRow(part, at), 1);
      const stretch = stretchOf(part.start[at]! + part.offset);
      pair[side].add(part.duration[at]!, isError(part.flags[at]!), stretch);
    }
  }
  for (const each of released) {
    if (!sources.has(each.source.number)) continue;
    const { name, kind } = each.released;
    const service = byService ? (each.source.service ?? null) : null;
    const key = { name, statement: null, service, kind };
    pairWithCounts(pairs.spans, key)[side].addCounts(each.released, stretchOf(each.middle));
  }
}

function isCall(kind: SpanKind): boolean {
  return kind === 'client' || kind === 'producer';
}

/** @param count how many calls this one counts for. */
function addCall(
  { byRoute }: Pair,
  { side, routes }: ComparedRows,
  call: IndexRow,
  count: number,
): void {
  const caller = routes?.callerOf(call);
  if (caller !== undefined) byRoute.add(side, caller, count);
}

/** The pair of spans that were counted without their system. */
function pairWithCounts(pairs: Map<string, Pair>, named: Omit<PairKey, 'system'>): Pair {
  for (const pair of pairs.values()) {
    const { name, service, kind, statement } = pair;
    if (
      name === named.name &&
      service === named.service &&
      kind === named.kind &&
      statement === null
    )
      return pair;
  }
  return pairIn(pairs, { ...named, system: null });
}

/** Adds the rows of a side by the values of attributes; those that have none of them are left out. */
function addValues(
  pairs: Map<string, Pair>,
  side: 'before' | 'after',
  { index, rows, sources }: RowsOfSide,
  byService: boolean,
  attributes: readonly string[],
): void {
  const stretchOf = stretchesOf({ index, rows, sources });
  for (const own of rowsOf(index, rows, sources)) {
    const label = valuesOf(index, own.row, attributes)?.label;
    if (label === undefined) continue;
    add(pairIn(pairs, { ...keyAt(own, byService), name: label })[side], own, stretchOf);
  }
}

/** Statements of databases that share a name with others: one of them may be slower. */
function comparedStatements(sides: readonly ComparedRows[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const side of sides) addStatements(pairs, side);
  const ofNames = new Map<string, Pair[]>();
  for (const pair of pairs.values()) {
    const key = [pair.service, pair.kind, pair.system, pair.name].join('\n');
    const others = ofNames.get(key) ?? [];
    ofNames.set(key, others);
    others.push(pair);
  }
  // A single one is the name's, and many have values in their texts.
  const several = [...ofNames.values()].filter(
    ({ length }) => length > 1 && length <= MOST_STATEMENTS,
  );
  return several.flat();
}

function addStatements(pairs: Map<string, Pair>, compared: ComparedRows): void {
  const { index, rows, sources, side, byService, stretchOf } = compared;
  const calls = [...rowsOf(index, rows, sources)].filter(
    ({ system }) => system !== null && system !== HTTP,
  );
  const step = Math.max(1, Math.ceil(calls.length / MOST_READ));
  for (let i = 0; i < calls.length; i += step) {
    const own = calls[i]!;
    const { row } = own;
    const values = valuesOf(index, row, [TEXT]) ?? valuesOf(index, row, [SUMMARY]);
    if (values === undefined) continue;
    const pair = pairIn(pairs, { ...keyAt(own, byService), statement: values.label });
    add(pair[side], own, stretchOf);
    if (isCall(own.kind)) addCall(pair, compared, own, step);
  }
}

function* rowsOf(
  index: LookIndex,
  rows: Int32Array,
  sources: ReadonlySet<number>,
): Generator<IndexRow, void> {
  for (const { part, from, to } of rowsByPart(index.parts, rows)) {
    if (!sources.has(part.source.number)) continue;
    for (let next = from; next < to; next++) yield new IndexRow(part, rows[next]! - part.firstRow);
  }
}

function keyAt({ name, service, kind, system }: IndexRow, byService: boolean): PairKey {
  return { name, statement: null, service: byService ? service : null, kind, system };
}

function add(side: Side, row: IndexRow, stretchOf: (start: number) => number): void {
  side.add(row.duration, isError(row.flags), stretchOf(row.start));
}

/** The stretch of a start, in ns since the index's epoch, between the first and the last start of rows. */
function stretchesOf({ index, rows, sources }: RowsOfSide): (start: number) => number {
  let [from, to] = [Infinity, -Infinity];
  for (const { part, firstRow, from: first, to: end } of rowsByPart(index.parts, rows)) {
    const { start, offset, source } = part;
    if (first === end || !sources.has(source.number)) continue;
    // Rows of a part are in order of start.
    from = Math.min(from, start[rows[first]! - firstRow]! + offset);
    to = Math.max(to, start[rows[end - 1]! - firstRow]! + offset);
  }
  const scale = STRETCHES / Math.max(1, to - from);
  return (start) => Math.min(STRETCHES - 1, Math.max(0, Math.floor((start - from) * scale)));
}

/** Pairs by name and service, of what was recorded in different ways. */
type Pairs = Record<Origin, Map<string, Pair>>;

/** `states`: that a thread ran, or did not. */
type Origin = 'spans' | 'states';

/** Without what says nothing next to spans. */
function shownPairs({ spans, states }: Pairs): Pair[] {
  return [...(spans.size > 0 ? spans : states).values()];
}

export function haveCommonService(before: RowsOfSide, after: RowsOfSide): boolean {
  const [first, second] = [before, after].map(
    ({ index, sources }) =>
      new Set(
        index.sources.filter(({ number }) => sources.has(number)).map(({ service }) => service),
      ),
  );
  return [...second!].some((service) => first!.has(service));
}

/** By number of a name of the part: 1 if requests and calls of other services may have it. */
function methodNames({ names }: IndexPart): Uint8Array {
  return Uint8Array.from({ length: names.count }, (_, number) =>
    isMethod(names.text(number)) ? 1 : 0,
  );
}

function pairOf(
  pairs: Map<string, Pair>,
  part: IndexPart,
  number: number,
  kind: SpanKind,
  byService: boolean,
): Pair {
  const service = byService ? (part.source.service ?? null) : null;
  const system = part.names.system(number) ?? null;
  return pairIn(pairs, { name: part.names.text(number), statement: null, service, kind, system });
}

type PairKey = Pick<Pair, 'name' | 'statement' | 'service' | 'kind' | 'system'>;

function pairIn(pairs: Map<string, Pair>, named: PairKey): Pair {
  const { name, statement, service, kind, system } = named;
  const key = [service, kind, system, name, statement].join('\n');
  return entryOf(pairs, key, () => ({
    ...named,
    calls: undefined,
    byRoute: new CallsByRoute(),
    before: new Side(),
    after: new Side(),
  }));
}

/** How a typical span has changed: a difference of means of logarithms is a ratio of geometric means. */
function changeOf({ before, after }: Pair): {
  ratio: ComparedGroup['ratio'];
  /** How likely chance alone makes such a change. */
  chance: number;
  isLarge: boolean;
} {
  if (before.durations.count < LEAST_SPANS || after.durations.count < LEAST_SPANS) {
    return { ratio: null, chance: 1, isLarge: false };
  }
  const { chance, ...interval } = differenceOf(before.logarithms, after.logarithms);
  const { value, low, high } = interval;
  const typical = Math.exp(before.logarithms.mean);
  const change = typical * Math.abs(Math.expm1(value));
  const isLarge = Math.abs(value) >= Math.log1p(LEAST_CHANGE) && change >= LEAST_NS;
  return {
    ratio: { value: Math.exp(value), low: Math.exp(low), high: Math.exp(high) },
    chance,
    isLarge,
  };
}

/** Where a group is shown: positive if slower, 0 if nobody can say, negative if faster. */
function weight({ ratio, change }: ComparedGroup): number {
  return ratio === null || change === 'same' ? 0 : Math.log(ratio.value);
}
