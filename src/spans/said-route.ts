import { shared } from '../core/process-state.js';
import { OPEN } from './span.js';
import type { Span } from './span.js';

type SpanRouted = (root: Span, route: string) => void;

/** Routes that frameworks give by attributes of their own spans, by the topmost span above. */
const said = shared('spans.said-route', () => ({
  routes: new WeakMap<Span, string>(),
  isAny: false,
  watchers: [] as SpanRouted[],
}));

/** Calls `routed` with the first route that a span says for the topmost one above it. */
export function watchSpanRoutes(routed: SpanRouted): void {
  said.watchers.push(routed);
}

/** Says the route of the request that a span is below. What frameworks ask of themselves for it comes later. */
export function sayRoute({ root }: Span, route: string): void {
  if (root.state !== OPEN || said.routes.has(root)) return;
  said.isAny = true;
  said.routes.set(root, route);
  for (const watcher of said.watchers) watcher(root, route);
}

/** The route that spans below a request have given; empty: none. */
export function saidRoute(root: Span | undefined): string {
  return said.isAny && root !== undefined ? (said.routes.get(root) ?? '') : '';
}
