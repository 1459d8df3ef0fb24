import { entryOf } from '../../core/map-entries.js';
import { IndexRow, isRequest } from '../index/index-row.js';
import type { LookIndex } from '../index/look-index.js';
import { rowsByPart } from '../index/parts/order-rows.js';
import { spanName } from '../report/names/row-name.js';
import { errorOfDifference, STRETCHES } from './change-test.js';
import type { MeanError } from './change-test.js';
import type { ComparedCalls } from './comparison-shape.js';

/** Calls without which a side says nothing, and requests. */
const LEAST_CALLS = 20;
const LEAST_REQUESTS = 20;
/** A smaller change of the calls a request is not named. */
const LEAST_CHANGE = 1.25;
/** How likely a call that only one side has is missing in the other by chance, at most. */
const MOST_CHANCE = 0.01;
/** Of the requests of a route that make a call, so many are counted. */
const MOST_CALLERS = 1000;
/** Spans between a call and its request. */
const MOST_ANCESTORS = 100;

type SideName = 'before' | 'after';
type Counts = Float64Array;

function bothSides<Side>(make: () => Side): Record<SideName, Side> {
  return { before: make(), after: make() };
}

const noCounts = (): Counts => new Float64Array(STRETCHES);

/** Requests on both sides: how many began in each stretch of time. */
class Route {
  readonly requests = bothSides(noCounts);

  /** Null: all requests of a service. */
  readonly name: string | null;
  /** All requests of the service. */
  readonly all: Route;

  constructor(name: string | null, all?: Route) {
    this.name = name;
    this.all = all ?? this;
  }
}

/** The requests of both sides by name and service. */
export class RequestRoutes {
  readonly #routes: Route[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #services = new Map<string | null, Route>();

  /**
   * Counts the requests of a side.
   *
   * @returns the routes of its rows.
   */
  add(
    side: SideName,
    { index, rows, sources }: { index: LookIndex; rows: Int32Array; sources: ReadonlySet<number> },
    byService: boolean,
    stretchOf: (start: number) => number,
  ): RowRoutes {
    const numbers = new Int32Array(index.rows).fill(-1);
    for (const { part, from, to } of rowsByPart(index.parts, rows)) {
      if (!sources.has(part.source.number)) continue;
      const service = byService ? (part.source.service ?? null) : null;
      for (let next = from; next < to; next++) {
        const at = rows[next]! - part.firstRow;
        if (!isRequest(part.flags[at]!)) continue;
        const row = new IndexRow(part, at);
        const number = this.#numberOf(service, spanName(row));
        numbers[row.row] = number;
        const { requests, all } = this.#routes[number]!;
        const stretch = stretchOf(row.start);
        requests[side][stretch]! += 1;
        all.requests[side][stretch]! += 1;
      }
    }
    return new RowRoutes(index, this.#routes, numbers, stretchOf);
  }

  #numberOf(service: string | null, name: string): number {
    return entryOf(this.#numbers, `${service}\n${name}`, () => {
      const all = entryOf(this.#services, service, () => new Route(null));
      return this.#routes.push(new Route(name, all)) - 1;
    });
  }
}

/** The request that made a call. */
interface Caller {
  route: Route;
  row: number;
  stretch: number;
}

/** Which route a row of a side is of. */
export class RowRoutes {
  readonly #index: LookIndex;
  readonly #routes: readonly Route[];
  readonly #numbers: Int32Array;
  readonly #stretchOf: (start: number) => number;

  constructor(
    index: LookIndex,
    routes: readonly Route[],
    numbers: Int32Array,
    stretchOf: (start: number) => number,
  ) {
    this.#index = index;
    this.#routes = routes;
    this.#numbers = numbers;
    this.#stretchOf = stretchOf;
  }

  /** The request that a call belongs to; undefined: it belongs to none that is compared. */
  callerOf(call: IndexRow): Caller | undefined {
    let { part } = call;
    let row = call.parent;
    for (let steps = 0; row >= 0 && steps < MOST_ANCESTORS; steps++) {
      if (row < part.firstRow || row >= part.firstRow + part.count) part = this.#index.partOf(row);
      const at = row - part.firstRow;
      if (isRequest(part.flags[at]!)) {
        const number = this.#numbers[row]!;
        if (number === -1) return undefined;
        const stretch = this.#stretchOf(part.start[at]! + part.offset);
        return { route: this.#routes[number]!, row, stretch };
      }
      row = part.parent[at]!;
    }
    return undefined;
  }
}

/** Calls that requests of a route make, on one side. */
class CallsOfSide {
  readonly counts = noCounts();
  /** Rows of the requests that make it, some of them. */
  readonly #callers = new Set<number>();

  add({ row, stretch }: Caller, count: number): void {
    this.counts[stretch]! += count;
    if (this.#callers.size < MOST_CALLERS) this.#callers.add(row);
  }

  /** How many requests make it, at least. */
  get callers(): number {
    return this.#callers.size;
  }
}

/** How often requests make a call, by their routes. */
export class CallsByRoute {
  readonly #routes = new Map<Route, Record<SideName, CallsOfSide>>();

  /** @param count how many calls a recorded one counts for. */
  add(side: SideName, caller: Caller, count: number): void {
    for (const route of [caller.route, caller.route.all]) {
      const calls = entryOf(this.#routes, route, () => bothSides(() => new CallsOfSide()));
      calls[side].add(caller, count);
    }
  }

  /** The routes of which enough was recorded; if there is none, all requests of the service. */
  get compared(): ComparedCalls[] {
    const compared = [...this.#routes].flatMap(
      ([route, calls]) => comparedCalls(route, calls) ?? [],
    );
    const ofRoutes = compared.filter(({ route }) => route !== null);
    return ofRoutes.length > 0 ? ofRoutes : compared;
  }
}

function sum(counts: Counts): number {
  return counts.reduce((all, count) => all + count, 0);
}

function comparedCalls(
  { name, requests }: Route,
  calls: Record<SideName, CallsOfSide>,
): ComparedCalls | undefined {
  const [before, after] = [sum(requests.before), sum(requests.after)];
  if (before < LEAST_REQUESTS || after < LEAST_REQUESTS) return undefined;
  const counts = { before: sum(calls.before.counts), after: sum(calls.after.counts) };
  if (Math.max(counts.before, counts.after) < LEAST_CALLS) return undefined;
  const rates = { before: counts.before / before, after: counts.after / after };
  const known = { route: name, ...rates, calls: counts };
  const alone = { ...known, low: null, high: null };
  if (counts.before === 0) {
    const isNew = isMissed(calls.after.callers / after, before);
    return { ...alone, change: isNew ? 'appeared' : null };
  }
  if (counts.after === 0) {
    const isGone = isMissed(calls.before.callers / before, after);
    return { ...alone, change: isGone ? 'vanished' : null };
  }
  const times = rates.after / rates.before;
  const { reach } = errorOfDifference(
    errorOf(calls.before.counts, requests.before),
    errorOf(calls.after.counts, requests.after),
  );
  const [low, high] = [times / Math.exp(reach), times * Math.exp(reach)];
  const isMore = low > 1 && times >= LEAST_CHANGE;
  const isFewer = high < 1 && times <= 1 / LEAST_CHANGE;
  return { ...known, low, high, change: isMore ? 'more' : isFewer ? 'fewer' : null };
}

/** Whether none of so many requests makes a call by more than chance, if a share of them makes it. */
function isMissed(share: number, requests: number): boolean {
  return (1 - share) ** requests <= MOST_CHANCE;
}

/** How far the logarithm of the calls a request may be off: stretches of time say that. */
function errorOf(calls: Counts, requests: Counts): MeanError {
  const all = sum(calls);
  const rate = all / sum(requests);
  let [used, squares] = [0, 0];
  for (let at = 0; at < STRETCHES; at++) {
    if (requests[at] === 0) continue;
    used += 1;
    squares += (calls[at]! - rate * requests[at]!) ** 2;
  }
  if (used < 2) return { variance: 1, freedom: 1 };
  return { variance: ((used / (used - 1)) * squares) / all ** 2, freedom: used - 1 };
}
