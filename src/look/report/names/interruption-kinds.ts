/** Kinds of interruptions of a thread. */
export type InterruptionKind = 'stall' | 'collection';

/** As src/node/threads names them. */
const STALL = 'event loop blocked';
const COLLECTION_SPAN = /^gc (?:minor|major|incremental|weakcb)$/;

/** Names of interruptions among the spans of a tree. */
export const PAUSE_NAMES = { stall: STALL, collection: 'garbage collection' } as const;

/** The kind of interruption that a name means; undefined: none. */
export function kindOfSpan(name: string): InterruptionKind | undefined {
  if (name === STALL) return 'stall';
  return COLLECTION_SPAN.test(name) ? 'collection' : undefined;
}

/** Whether spans of this name are stalls or collections. */
export function isInterruption(name: string): boolean {
  return kindOfSpan(name) !== undefined;
}
