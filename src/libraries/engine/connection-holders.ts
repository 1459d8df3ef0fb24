import { RemoteParent } from '../../spans/context/remote-parent.js';
import { SHOWN } from '../../spans/span.js';
import type { Span } from '../../spans/span.js';

/** Who acquired a connection last, and when, in ms. It keeps nothing of the program, and serves as long as the connection. */
class Holder {
  t0 = 0;
  t1 = 0;
  t2 = 0;
  t3 = 0;
  s0 = 0;
  s1 = 0;
  flags = 0;
  since = 0;
  /** False: the program acquired it where no span was active. */
  isKnown = false;
}

/** W3C's flags. */
const FLAGS = 0xff;
const NS_PER_MS = 1e6;
const holders = new WeakMap<object, Holder>();

/**
 * That a connection of a pool now is a span's, or that of a program without one.
 *
 * @param since in ms, as of `performance.now()`.
 */
export function noteHolder(
  connection: unknown,
  span: Span | undefined,
  since = performance.now(),
): void {
  if (typeof connection !== 'object' || connection === null) return;
  let holder = holders.get(connection);
  if (holder === undefined) {
    if (span === undefined) return;
    holder = new Holder();
    holders.set(connection, holder);
  }
  holder.isKnown = span !== undefined;
  if (span === undefined) return;
  span.flags |= SHOWN;
  holder.t0 = span.t0;
  holder.t1 = span.t1;
  holder.t2 = span.t2;
  holder.t3 = span.t3;
  holder.s0 = span.s0;
  holder.s1 = span.s1;
  holder.flags = span.flags & FLAGS;
  holder.since = since;
}

/** Whether a connection is known to be a span's. */
export function isHeldBy(connection: object, { s0, s1 }: Span): boolean {
  const holder = holders.get(connection);
  return holder?.isKnown === true && holder.s0 === s0 && holder.s1 === s1;
}

/** Says of a span that waited for a connection who held it until now. */
export function linkHolder(connection: unknown, waited: Span): void {
  if (typeof connection !== 'object' || connection === null) return;
  const holder = holders.get(connection);
  if (holder?.isKnown !== true) return;
  const { t0, t1, t2, t3, s0, s1, flags, since } = holder;
  const to = new RemoteParent({ trace: [t0, t1, t2, t3], span: [s0, s1], flags }, '', undefined);
  const held = Math.round((performance.now() - since) * NS_PER_MS);
  waited.extra().links = [{ to, attributes: { 'tracewright.pool.held': held } }];
}
