import { NO_BAGGAGE } from './context/baggage.js';
import { CarriedBaggage } from './context/carried.js';
import type { Carried, Senders } from './context/carried.js';
import { RemoteParent } from './context/remote-parent.js';
import type { TraceParent } from './context/trace-context.js';
import { TRACE_FLAGS_MASK } from './layout.js';
import { REMOTE } from './span.js';
import type { Span, SpanLink } from './span.js';

/** Values carried below a caller: its baggage, who it is, and what else is active here. */
export function carriedBy(sent: RemoteParent, active: Carried | undefined): Carried | undefined {
  const { baggage, senders } = sent;
  if (active === undefined) {
    // The views of the API on baggage need a holder.
    if (baggage !== undefined) return new CarriedBaggage(baggage, senders);
    return sent.parent === undefined ? undefined : sent;
  }
  const carried = active.withBaggage(baggage ?? NO_BAGGAGE);
  return senders === undefined ? carried : carried.withSenders(senders);
}

function asSent({ t0, t1, t2, t3, s0, s1, flags }: Span): RemoteParent {
  const parent: TraceParent = {
    trace: [t0, t1, t2, t3],
    span: [s0, s1],
    flags: flags & TRACE_FLAGS_MASK,
  };
  return new RemoteParent(parent, '', undefined);
}

/** Values carried below the ids of another process's span. */
export function carriedBelow(remote: Span, active: Carried | undefined): Carried {
  const sent = asSent(remote);
  return active?.withSenders(sent) ?? sent;
}

/** The senders of the messages of a batch. */
class BatchSenders implements Senders {
  readonly #all: readonly RemoteParent[];

  constructor(all: readonly RemoteParent[]) {
    this.#all = all;
  }

  include(parent: TraceParent): boolean {
    return this.#all.some((each) => each.include(parent));
  }
}

/** Values carried below a span that has links in place of a parent: those of a batch are its messages' senders. */
export function carriedByBatch(
  links: readonly SpanLink[],
  active: Carried | undefined,
): Carried | undefined {
  const all: RemoteParent[] = [];
  for (const { to } of links) {
    if (to instanceof RemoteParent) all.push(to);
    else if (to.state === REMOTE) all.push(asSent(to));
  }
  const [first] = all;
  if (first === undefined) return active;
  const senders = all.length === 1 ? first : new BatchSenders(all);
  return active?.withSenders(senders) ?? new CarriedBaggage(undefined, senders);
}
