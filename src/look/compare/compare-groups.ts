import { addToList, entryOf } from '../../core/map-entries.js';
import { isCallOf, isError, IndexRow } from '../index/index-row.js';
import { KINDS } from '../../spans/layout.js';
import type { SpanKind } from '../../spans/layout.js';
import { KIND_MASK } from '../index/look-index.js';
import type { IndexPart, LookIndex } from '../index/look-index.js';
import { rowsByPart } from '../index/parts/order-rows.js';
import type { ReleasedRequests } from '../../spans/read/released-requests.js';
import { HTTP } from '../../spans/read/system-of.js';
import { codeText } from '../report/names/code-text.js';
import { kindOfSpan } from '../report/names/interruption-kinds.js';
import { attributesOf, valuesOf } from '../report/names/recorded-attributes.js';
import { SampledCalls } from '../report/names/call-target.js';
import type { SelectedCounts } from '../report/groups/released-groups.js';
import type { TimeWindow } from '../report/measures/selection.js';
import { isMethod } from '../report/names/request-name.js';
import { codeOfStack, STACK } from '../report/threads/stall-code.js';
import { CallsByRoute, RequestRoutes } from './calls-a-request.js';
import type { RowRoutes } from './calls-a-request.js';
import {
  chanceOfFew,
  differenceOf,
  MeanOverTime,
  moreThanChance,
  STRETCHES,
} from './change-test.js';
import type { MeanDifference } from './change-test.js';
import type { ComparedGroup, ComparedSide, Ratio } from './comparison-shape.js';
import { percentileDifference, TimedDurations } from './percentile-change.js';

/** Spans without which a side says nothing. */
const LEAST_SPANS = 5;
/** Smaller changes of a typical span are not named: as a share of its duration, and in ns. */
const LEAST_CHANGE = 0.05;
const LEAST_NS = 50_000;
/** The ends of distributions that are compared, too, and the least change that is named. */
const TAILS = [95, 99] as const;
const LEAST_TAIL_CHANGE = 0.2;
/** How likely a group that one side hardly has is so by chance, at most. */
const MOST_CHANCE = 0.01;
/** Attributes that have the statement of a database. */
const TEXT = 'db.query.text';
const SUMMARY = 'db.query.summary';
/** Calls of databases of a side whose records are read, taken evenly. */
const MOST_READ = 50_000;
/** Statements of one name that are compared one by one. */
const MOST_STATEMENTS = 50;

/** The spans of one name and service on one side. */
class Side {
  readonly times = new TimedDurations();
  /** Of the logarithms of durations. */
  readonly logarithms = new MeanOverTime();
  errors = 0;

  add(duration: number, failed: boolean, stretch: number): void {
    this.times.add(duration, stretch);
    if (failed) this.errors += 1;
    this.logarithms.add(Math.log(Math.max(1, duration)), stretch);
  }

  addCounts({ durations, errors }: ReleasedRequests, stretch: number): void {
    for (const [duration, count] of durations) {
      for (let i = 0; i < count; i++) this.add(duration, false, stretch);
    }
    this.errors += errors;
  }

  get count(): number {
    return this.times.durations.count;
  }

  get figures(): ComparedSide {
    const { errors, count } = this;
    const [p50, p95, p99] = [50, 95, 99].map((each) => this.times.durations.percentile(each));
    return { count, errors, p50: p50!, p95: p95!, p99: p99! };
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
  /** Of the curves; undefined: all of the time. */
  window?: TimeWindow;
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
  const pairsOfStatements = [...pairs.spans.values()].filter(({ statement }) => statement !== null);
  const apart = new Set(pairsOfStatements.map(nameKeyOf));
  const shown = shownPairs(pairs).map((pair) => {
    // The tail of several statements is that of one of them.
    const hasTails = pair.statement !== null || !apart.has(nameKeyOf(pair));
    return { pair, ...changesOf(pair, hasTails) };
  });
  const changes = shown.flatMap(({ mean, tails }) => [...(mean === null ? [] : [mean]), ...tails]);
  const isMore = moreThanChance(changes.map(({ chance }) => chance));
  const named = new Set(changes.filter(({ isLarge }, at) => isLarge && isMore[at]));
  const requests = requestsOf(shown.map(({ pair }) => pair));
  const groups = shown.map(({ pair, mean, tails }): ComparedGroup => {
    const { name, statement, service, kind, system, calls, byRoute, before, after } = pair;
    const tail = tails.find((each) => named.has(each)) ?? null;
    const first = mean !== null && named.has(mean) ? mean : tail;
    const seen = first === null ? 'same' : first.value > 0 ? 'slower' : 'faster';
    return {
      name,
      statement,
      targets: calls?.targets ?? [],
      service,
      kind,
      system,
      before: before.figures,
      after: after.figures,
      ratio: mean && ratioOf(mean),
      isMean: first !== null && first === mean,
      tail: tail && { percent: tail.percent, ...ratioOf(tail) },
      change: mean === null ? presenceOf(pair, requests) : seen,
      calls: byRoute.compared,
    };
  });
  const costs = new Map(groups.map((group, at) => [group, costOf(group, shown[at]!)]));
  return groups.sort((a, b) => costs.get(b)! - costs.get(a)! || b.after.count - a.after.count);
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

/** Statements of databases that share a name with others, and code that blocked event loops: one may be slower. */
function comparedStatements(sides: readonly ComparedRows[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const side of sides) addStatements(pairs, side);
  const ofNames = new Map<string, Pair[]>();
  for (const pair of pairs.values()) {
    addToList(ofNames, nameKeyOf(pair), pair);
  }
  // A single one is the name's, and many have values in their texts.
  const several = [...ofNames.values()].filter(
    ([first, ...others]) =>
      (others.length > 0 || isStall(first!.name)) && others.length < MOST_STATEMENTS,
  );
  return several.flat();
}

function addStatements(pairs: Map<string, Pair>, compared: ComparedRows): void {
  const { index, rows, sources, side, byService, stretchOf } = compared;
  const calls = [...rowsOf(index, rows, sources)].filter(
    ({ system, name }) => (system !== null && system !== HTTP) || isStall(name),
  );
  const step = Math.max(1, Math.ceil(calls.length / MOST_READ));
  for (let i = 0; i < calls.length; i += step) {
    const own = calls[i]!;
    const statement = isStall(own.name) ? stalledCode(index, own.row) : statementOf(index, own.row);
    if (statement === undefined) continue;
    const pair = pairIn(pairs, { ...keyAt(own, byService), statement });
    add(pair[side], own, stretchOf);
    if (isCall(own.kind)) addCall(pair, compared, own, step);
  }
}

function statementOf(index: LookIndex, row: number): string | undefined {
  return (valuesOf(index, row, [TEXT]) ?? valuesOf(index, row, [SUMMARY]))?.label;
}

function isStall(name: string): boolean {
  return kindOfSpan(name) === 'stall';
}

/** The code that ran in a stall, without its line, which changes with every release. */
function stalledCode(index: LookIndex, row: number): string | undefined {
  const code = codeOfStack(attributesOf(index, row)(STACK));
  if (code === null) return undefined;
  return codeText({ ...code, line: code.line.replace(/:\d+$/, ''), caller: null });
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

function nameKeyOf({ service, kind, system, name }: PairKey): string {
  return [service, kind, system, name].join('\n');
}

function pairIn(pairs: Map<string, Pair>, named: PairKey): Pair {
  return entryOf(pairs, `${nameKeyOf(named)}\n${named.statement}`, () => ({
    ...named,
    calls: undefined,
    byRoute: new CallsByRoute(),
    before: new Side(),
    after: new Side(),
  }));
}

/** How the logarithm of a mean or of a percentile has changed. */
interface Change extends MeanDifference {
  isLarge: boolean;
  /** Ns that a span takes longer; negative: shorter. */
  time: number;
}

/** How durations have changed; null: a side has too few spans. */
function changesOf(
  { before, after }: Pair,
  hasTails: boolean,
): {
  mean: Change | null;
  tails: (Change & { percent: 95 | 99 })[];
} {
  if (before.count < LEAST_SPANS || after.count < LEAST_SPANS) return { mean: null, tails: [] };
  // A difference of means of logarithms is a ratio of geometric means.
  const difference = differenceOf(before.logarithms, after.logarithms);
  const tails = (hasTails ? TAILS : []).flatMap((percent) => {
    const own = percentileDifference(before.times, after.times, percent);
    if (own === undefined) return [];
    const from = Math.log(Math.max(1, before.times.durations.percentile(percent)));
    return { ...changeOf(own, from, LEAST_TAIL_CHANGE), percent };
  });
  return { mean: changeOf(difference, before.logarithms.mean, LEAST_CHANGE), tails };
}

/** @param from the logarithm before. */
function changeOf(difference: MeanDifference, from: number, least: number): Change {
  const { value } = difference;
  const time = Math.exp(from) * Math.expm1(value);
  const isLarge = Math.abs(value) >= Math.log1p(least) && Math.abs(time) >= LEAST_NS;
  return { ...difference, isLarge, time };
}

function ratioOf({ value, low, high }: MeanDifference): Ratio {
  return {
    value: Math.exp(value),
    low: Math.exp(low),
    high: Math.exp(high),
  };
}

/** How much each side has done: requests, or else spans of all kinds. */
function requestsOf(pairs: readonly Pair[]): Record<'before' | 'after', number> {
  const whole = pairs.filter(({ statement }) => statement === null);
  const requests = whole.filter(({ kind }) => kind === 'server' || kind === 'consumer');
  const sum = (of: readonly Pair[], side: 'before' | 'after'): number =>
    of.reduce((count, pair) => count + pair[side].count, 0);
  const areBoth = sum(requests, 'before') > 0 && sum(requests, 'after') > 0;
  const counted = areBoth ? requests : whole;
  return { before: sum(counted, 'before'), after: sum(counted, 'after') };
}

/** Of a group that one side hardly has: whether that is more than chance. */
function presenceOf(
  { before, after }: Pair,
  requests: Record<'before' | 'after', number>,
): ComparedGroup['change'] {
  const side = before.count < after.count ? 'before' : 'after';
  const few = Math.min(before.count, after.count);
  const share = requests[side] / Math.max(1, requests.before + requests.after);
  if (!(chanceOfFew(few, before.count + after.count, share) <= MOST_CHANCE)) return null;
  if (side === 'before') return few === 0 ? 'new' : 'more';
  return few === 0 ? 'gone' : 'fewer';
}

/** Ns that all spans, or those of the tail, take longer: positive if slower, 0 if nobody can say, negative if faster. */
function costOf(
  { isMean, tail, change, after }: ComparedGroup,
  { mean, tails }: ReturnType<typeof changesOf>,
): number {
  if (change !== 'slower' && change !== 'faster') return 0;
  const ofMean = isMean ? mean!.time * after.count : 0;
  const own = tails.find(({ percent }) => percent === tail?.percent);
  const ofTail = own === undefined ? 0 : own.time * after.count * (1 - own.percent / 100);
  return change === 'slower' ? Math.max(ofMean, ofTail) : Math.min(ofMean, ofTail);
}
