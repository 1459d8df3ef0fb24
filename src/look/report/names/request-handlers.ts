import { rowAt } from '../../index/index-row.js';
import type { IndexRow } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';

/** From a handler up to its request. */
const MOST_ANCESTORS = 16;
/** As the instrumentations of OpenTelemetry name them. */
const HANDLER = /^request handler\b(?: - (\/.*))?/;

/** A span that says the route of the request above it. */
export interface Handler {
  row: number;
  route: string;
  /** Whether its name says no more than the route. */
  isNamedAlike: boolean;
}

interface FoundHandler extends Handler {
  isHandler: boolean;
}

/** By row of a request: the span below it, in its process, that says its route. */
export function* handlersOf(
  index: LookIndex,
  requests: readonly IndexRow[],
): Steps<Map<number, Handler>> {
  const wanted = new Set(requests.map(({ row }) => row));
  const traces = new Set(requests.flatMap(({ traceId }) => traceId ?? []));
  const handlers = new Map<number, FoundHandler>();
  for (const trace of traces) {
    yield;
    for (const row of index.rowsOfTrace(trace)) {
      const handler = handlerAt(index, row);
      const request = handler && requestOf(index, row, wanted);
      if (request === undefined) continue;
      const known = handlers.get(request);
      if (known === undefined || isBetter(handler!, known)) handlers.set(request, handler!);
    }
  }
  return handlers;
}

/** Routers and middleware say parts of the route. */
function isBetter(one: FoundHandler, other: FoundHandler): boolean {
  if (one.isHandler !== other.isHandler) return one.isHandler;
  return one.route.length > other.route.length;
}

function handlerAt(index: LookIndex, row: number): FoundHandler | undefined {
  const { isRequest, isCall, name, route: own } = rowAt(index, row);
  if (isRequest || isCall) return undefined;
  const named = HANDLER.exec(name);
  const route = own ?? named?.[1];
  if (route === undefined || route === '') return undefined;
  return {
    row,
    route,
    isHandler: named !== null,
    isNamedAlike: named !== null || name.includes(route),
  };
}

function requestOf(index: LookIndex, row: number, wanted: ReadonlySet<number>): number | undefined {
  const { source } = index.partOf(row);
  let ancestor = row;
  for (let steps = 0; steps < MOST_ANCESTORS; steps++) {
    ancestor = rowAt(index, ancestor).parent;
    if (ancestor < 0) return undefined;
    const { part, isRequest } = rowAt(index, ancestor);
    if (part.source !== source) return undefined;
    if (wanted.has(ancestor)) return ancestor;
    if (isRequest) return undefined;
  }
  return undefined;
}
