import type { RecordedLink } from '../../spans/span-record.js';
import { wordsOf } from '../index/serve/find-rows.js';
import type { IndexPart, LookIndex } from '../index/look-index.js';
import type { Steps } from '../index/turns.js';
import { isRequest } from './groups.js';
import { recordedSpan } from './recorded-attributes.js';
import type { PoolWaits, TimeShare } from './report-shape.js';
import { rowName } from './row-name.js';
import { CHOSEN, SPAN } from './selection.js';
import type { RowSelection } from './selection.js';
import { TimeSampler } from './time-sampler.js';
import { TracesElsewhere } from './traces-elsewhere.js';

/** Of the link to the span that had the connection: for how many ns it had had it. */
const HELD = 'tracewright.pool.held';
/** Waits of a pool whose records are read for who held its connections, evenly from their time. */
const SAMPLES = 200;
/** From a span up to its request. */
const MOST_ANCESTORS = 100;
/** Names that are reported of a pool. */
const MOST_NAMES = 5;

/** A wait whose record is read, and for how much of the time it stands. */
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
    const { name, service, waits, total, max, sampled } = this;
    const [waited, held] = [sharesOf(this.waited), sharesOf(this.held)];
    return { name, service, count: waits.length, total, max, sampled, waited, held };
  }
}

/**
 * Who waited for a connection of a pool, and who held it meanwhile, by request. A wait has a link to the span that had
 * the connection before: what it waited before that one had it was the time of earlier holders.
 */
export function* poolWaits(selection: RowSelection): Steps<PoolWaits[]> {
  const { index } = selection;
  const pools = new Map<string, PoolTally>();
  for (const part of index.parts) {
    yield;
    if (selection.mayHave(part)) addPart(part, selection.marksOf(part), pools);
  }
  for (const pool of pools.values()) yield* addHolders(index, pool);
  return [...pools.values()].map(({ figures }) => figures).sort((a, b) => b.total - a.total);
}

function addPart(part: IndexPart, marks: Uint8Array, pools: Map<string, PoolTally>): void {
  const { names, name, duration, firstRow } = part;
  const arePools = Uint8Array.from({ length: names.count }, (_, number) => {
    const system = names.system(number);
    return system !== undefined && names.text(number) === `${system} pool` ? 1 : 0;
  });
  if (!arePools.includes(1)) return;
  const service = part.source.service ?? null;
  for (let at = 0; at < marks.length; at++) {
    const wanted = CHOSEN | SPAN;
    if (arePools[name[at]!] !== 1 || (marks[at]! & wanted) !== wanted) continue;
    const pool = names.text(name[at]!);
    const key = JSON.stringify([pool, service]);
    let tally = pools.get(key);
    if (tally === undefined) pools.set(key, (tally = new PoolTally(pool, service)));
    tally.add(firstRow + at, duration[at]!);
  }
}

function* addHolders(index: LookIndex, pool: PoolTally): Steps<void> {
  const found: { link: RecordedLink; id: Uint32Array; sample: Sample }[] = [];
  for (const sample of pool.samples()) {
    yield;
    addTo(pool.waited, requestAbove(index, sample.row), sample.weight * sample.duration);
    const link = recordedSpan(index, sample.row)?.links.find(
      ({ attributes }) => HELD in attributes,
    );
    if (link === undefined) continue;
    found.push({ link, id: Uint32Array.from(wordsOf(link.traceId)), sample });
    pool.sampled += 1;
  }
  const traces = yield* TracesElsewhere.ofIds(
    index,
    found.map(({ id }) => id),
  );
  for (const { link, id, sample } of found) {
    const { duration, weight } = sample;
    const row = traces.rowsOf(id).find((each) => isSpan(index, each, link.spanId));
    const holder = row === undefined ? 'not recorded' : requestAbove(index, row);
    const held = Math.min(duration, Number(link.attributes[HELD]));
    addTo(pool.held, holder, weight * held);
    if (duration > held) addTo(pool.held, EARLIER, weight * (duration - held));
  }
}

/** Those who had the connection before the last one. */
const EARLIER = 'others before';

function isSpan(index: LookIndex, row: number, spanId: string): boolean {
  const part = index.partOf(row);
  const at = row - part.firstRow;
  const word = (number: number): string =>
    part.spanId[2 * at + number]!.toString(16).padStart(8, '0');
  return word(0) + word(1) === spanId;
}

/** The name of the request that a span belongs to; else of the span at the top, in its process. */
function requestAbove(index: LookIndex, row: number): string {
  let top = row;
  for (let steps = 0; steps < MOST_ANCESTORS; steps++) {
    const part = index.partOf(top);
    if (isRequest(part.flags[top - part.firstRow]!)) break;
    const parent = part.parent[top - part.firstRow]!;
    if (parent < 0 || index.partOf(parent).source !== part.source) break;
    top = parent;
  }
  return rowName(index, top);
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
