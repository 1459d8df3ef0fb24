import { RemoteParent } from '../../spans/context/remote-parent.js';
import type { TraceParent } from '../../spans/context/trace-context.js';
import type { Span } from '../../spans/span.js';

/** Who acquired a connection last, and when, in ms. It keeps nothing of the program. */
interface Holder {
  to: RemoteParent;
  since: number;
}

/** W3C's flags. */
const FLAGS = 0xff;
const NS_PER_MS = 1e6;
const holders = new WeakMap<object, Holder>();

/** That a connection of a pool now is a span's, or that of a program without one. */
export function noteHolder(connection: unknown, span: Span | undefined): void {
  if (typeof connection !== 'object' || connection === null) return;
  if (span === undefined) {
    holders.delete(connection);
    return;
  }
  const { t0, t1, t2, t3, s0, s1, flags } = span;
  const parent: TraceParent = { trace: [t0, t1, t2, t3], span: [s0, s1], flags: flags & FLAGS };
  holders.set(connection, {
    to: new RemoteParent(parent, '', undefined),
    since: performance.now(),
  });
}

/** Says of a span that waited for a connection who held it until now. */
export function linkHolder(connection: unknown, waited: Span): void {
  if (typeof connection !== 'object' || connection === null) return;
  const holder = holders.get(connection);
  if (holder === undefined) return;
  const { to, since } = holder;
  const held = Math.round((performance.now() - since) * NS_PER_MS);
  waited.extra().links = [{ to, attributes: { 'tracewright.pool.held': held } }];
}
