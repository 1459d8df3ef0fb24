import { addToList, entryOf } from '../../../core/map-entries.js';
import type { IndexRow } from '../../index/index-row.js';
import { rowAt } from '../../index/index-row.js';
import type { RecordedLink } from '../../../spans/span-record.js';
import { wordsOf } from '../../index/serve/find-rows.js';
import type { IndexPart, LookIndex } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import type { PoolWaits, TimeShare } from '../shape/report-shape.js';
import { POOLS } from '../../../spans/read/pool-names.js';
import { SPAN } from '../measures/selection.js';
import type { RowSelection } from '../measures/selection.js';
import { TimeSampler } from '../measures/samples.js';
import { HELD, linkToHolder, requestAbove, SAME_MOMENT } from '../trees/pool-holder.js';
import { TracesElsewhere } from '../trees/traces-elsewhere.js';

/** Waits of a pool whose records are read for who held its connections, evenly from their time. */
const SAMPLES = 200;
/** Waits of a pool of which it is known who waited, and holders of one wait that are followed. */
const MOST_QUEUED = 1 << 20;
const MOST_HOLDERS = 64;
/** Names that are reported of a pool. */
const MOST_NAMES = 5;

/** A wait whose record is read, and how much of the time it represents. */
interface Sample {
  row: number;
  duration: number;
  weight: number;
}

/** The waits for the pool of one system and service. */
class PoolTally {
  readonly name: string;
  readonly service: string | null;
  readonly waits: { row: number; duration: number }[] = [];
  readonly waited = new Map<string, number>();
  readonly held = new Map<string, number>();
  total = 0;
  max = 0;
  sampled = 0;
  looked = 0;

  constructor(name: string, service: string | null) {
    this.name = name;
    this.service = service;
  }

  add(row: number, duration: number): void {
    this.waits.push({ row, duration });
    this.total += duration;
    this.max = Math.max(this.max, duration);
  }

  *samples(): Generator<Sample, void> {
    const { waits, total } = this;
    const sampler = new TimeSampler({ count: waits.length, total }, SAMPLES);
    for (const { row, duration } of waits) {
      const weight = sampler.weightOf(duration);
      if (weight > 0) yield { row, duration, weight };
    }
  }

  get figures(): PoolWaits {
    const { name, service, waits, total, max, sampled, looked } = this;
    const [waited, held] = [sharesOf(this.waited), sharesOf(this.held)];
    return { name, service, count: waits.length, total, max, looked, sampled, waited, held };
  }
}

/**
 * Who waited for a connection of a pool, and who held it meanwhile, by request. A wait has a link to the span that had
 * the connection before, and that one's own wait a link to the one before that.
 */
export function* poolWaits(selection: RowSelection): Steps<PoolWaits[]> {
  const { index } = selection;
  const pools = new Map<string, PoolTally>();
  for (const part of index.parts) {
    yield;
    if (selection.mayHave(part)) addPart(part, selection, pools);
  }
  for (const pool of pools.values()) yield* addHolders(index, pool);
  return [...pools.values()].map(({ figures }) => figures).sort((a, b) => b.total - a.total);
}

function addPart(part: IndexPart, selection: RowSelection, pools: Map<string, PoolTally>): void {
  const marks = selection.marksOf(part);
  const { names, name, duration, firstRow } = part;
  const arePools = Uint8Array.from({ length: names.count }, (_, number) =>
    POOLS.has(names.text(number)) ? 1 : 0,
  );
  if (!arePools.includes(1)) return;
  const service = part.source.service ?? null;
  for (let at = 0; at < marks.length; at++) {
    if (arePools[name[at]!] !== 1 || marks[at] === 0) continue;
    // Who asks for requests asks for what they waited for.
    if ((marks[at]! & SPAN) === 0 && !selection.isBelowChosen(part, at)) continue;
    const pool = names.text(name[at]!);
    const key = JSON.stringify([pool, service]);
    const tally = entryOf(pools, key, () => new PoolTally(pool, service));
    tally.add(firstRow + at, duration[at]!);
  }
}

function* addHolders(index: LookIndex, pool: PoolTally): Steps<void> {
  const found: { holding: Holding; id: Uint32Array; weight: number }[] = [];
  const queue = new Queue(index, pool.waits);
  for (const { row, duration, weight } of pool.samples()) {
    yield;
    pool.looked += 1;
    addTo(pool.waited, requestAbove(index, row), weight * duration);
    const holdings = [...queue.holdings(row)];
    if (holdings.length === 0) continue;
    pool.sampled += 1;
    let left = duration;
    for (const holding of holdings) {
      const id = Uint32Array.from(wordsOf(holding.link.traceId));
      found.push({ holding, id, weight });
      left -= holding.time;
    }
    if (left > 0) addTo(pool.held, EARLIER, weight * left);
  }
  const traces = yield* TracesElsewhere.ofIds(
    index,
    found.map(({ id }) => id),
  );
  for (const { holding, id, weight } of found) {
    const { link, time } = holding;
    const row = traces.rowsOf(id).find((each) => rowAt(index, each).spanId === link.spanId);
    addTo(pool.held, row === undefined ? 'not recorded' : requestAbove(index, row), weight * time);
  }
}

/** Those who had the connection before the first one that is known. */
const EARLIER = 'not known';

/** Of a wait: which span had the connection for a part of it. */
interface Holding {
  link: RecordedLink;
  time: number;
}

/** The waits of a pool in their order: who had a connection before has mostly waited for it, too. */
class Queue {
  readonly #index: LookIndex;
  /** By a word of the id of the span that waited, which the next one has a link to. */
  readonly #bySpan = new Map<number, number[]>();

  constructor(index: LookIndex, waits: readonly { row: number }[]) {
    this.#index = index;
    for (const { row } of waits.slice(0, MOST_QUEUED)) {
      const waiting = this.#waiting(row);
      if (waiting === undefined) continue;
      const word = waiting.part.spanId[2 * waiting.at + 1]!;
      addToList(this.#bySpan, word, row);
    }
  }

  /** Who had the connection while a row waited, the last one first. */
  *holdings(row: number): Generator<Holding, void> {
    const begin = rowAt(this.#index, row).start;
    let wait: number | undefined = row;
    for (let steps = 0; wait !== undefined && steps < MOST_HOLDERS; steps++) {
      const link = linkToHolder(this.#index, wait);
      if (link === undefined) return;
      const until: number = rowAt(this.#index, wait).end;
      const since = until - Number(link.attributes[HELD]);
      yield { link, time: until - Math.max(begin, since) };
      wait = since > begin ? this.#endedAt(since, link.spanId) : undefined;
    }
  }

  /** The wait of a span that ended when it got the connection. */
  #endedAt(time: number, spanId: string): number | undefined {
    const word = Number.parseInt(spanId.slice(8), 16);
    const farOf = (row: number): number => Math.abs(rowAt(this.#index, row).end - time);
    const waits = (this.#bySpan.get(word) ?? []).filter(
      (row) => farOf(row) < SAME_MOMENT && this.#waiting(row)!.spanId === spanId,
    );
    return waits.sort((a, b) => farOf(a) - farOf(b))[0];
  }

  /** The span in which a row waited. */
  #waiting(row: number): IndexRow | undefined {
    const { parent } = rowAt(this.#index, row);
    return parent < 0 ? undefined : rowAt(this.#index, parent);
  }
}

function addTo(times: Map<string, number>, name: string, time: number): void {
  times.set(name, (times.get(name) ?? 0) + time);
}

function sharesOf(times: ReadonlyMap<string, number>): TimeShare[] {
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_NAMES)
    .map(([name, time]) => ({ name, time, share: all === 0 ? 0 : time / all }));
}
