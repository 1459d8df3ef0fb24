import type { RankRendezvous } from './rank-rendezvous.js';
import { warn, warnNotRecorded } from './warnings.js';
import { createHandles } from '../write/handles.js';
import { Rank } from '../write/rank.js';

/** The rank of a thread in the run. */
export interface ThreadRank {
  number: number;
  rendezvous: RankRendezvous;
  /** Undefined if the trace cannot be written. */
  trace: Rank | undefined;
}

/** Gives this thread its rank, and opens its trace if possible. */
export function takeRank(number: number, rendezvous: RankRendezvous, open: () => Rank): ThreadRank {
  let trace: Rank | undefined;
  try {
    trace = open();
  } catch (error) {
    warn('this thread is not traced', error);
  }
  try {
    trace?.log('MPI_Init', { argv: process.argv.slice(1) });
  } catch (error) {
    warnNotRecorded(error);
  }
  // Before the listener that closes the rank.
  process.prependListener('exit', () => {
    rendezvous.endRank(number);
    try {
      trace?.log('MPI_Finalize', {});
    } catch {
      // Closed by the program.
    }
  });
  return { number, rendezvous, trace };
}

const handles = createHandles();
const doNothing = (): undefined => undefined;

/** The rank of a thread whose file could not be opened: its calls do nothing. */
const UNTRACED = new Proxy(Object.create(Rank.prototype) as Rank, {
  get(_, name) {
    if (name === 'handles') return handles;
    const method: unknown = Object.getOwnPropertyDescriptor(Rank.prototype, name)?.value;
    return name === 'enter' || typeof method === 'function' ? doNothing : undefined;
  },
});

/**
 * A rank that is opened when its first property is read: a program that only imports it writes no trace.
 *
 * @param open opens it, or returns what was opened; undefined if that failed.
 */
export function rankWhenUsed(open: () => Rank | undefined): Rank {
  const methods = new Map<unknown, unknown>();
  const opened = (): Rank => open() ?? UNTRACED;
  return new Proxy(Object.create(Rank.prototype) as Rank, {
    get(_, name) {
      const known = methods.get(name);
      if (known !== undefined) return known;
      const rank = opened();
      const value: unknown = Reflect.get(rank, name);
      if (typeof value !== 'function') return value;
      const method: unknown = value.bind(rank);
      methods.set(name, method);
      return method;
    },
    set: (_, name, value) => Reflect.set(opened(), name, value),
    has: (_, name) => Reflect.has(Rank.prototype, name) || Reflect.has(opened(), name),
  });
}
