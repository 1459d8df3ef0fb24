import type { Track } from '../index/look-index.js';

/** What keeps a thread from working, and nobody has asked for. */
export type InterruptionKind = 'stall' | 'collection';

/** As src/node/threads names them. */
const STALL = 'event loop blocked';
const COLLECTION_SPAN = /^gc (?:minor|major|incremental|weakcb)$/;
const COLLECTION_MARK = /garbage collection/i;
const STALL_MARK = /event loop blocked|stalls of/i;

/** As one of them is named where it stands among spans. */
export const PAUSE_NAMES = { stall: STALL, collection: 'garbage collection' } as const;

/** What spans of this name are. */
export function kindOfSpan(name: string): InterruptionKind | undefined {
  if (name === STALL) return 'stall';
  return COLLECTION_SPAN.test(name) ? 'collection' : undefined;
}

/** What all rows of a track are: ovni has marks of one kind on each. */
export function kindOfMarks({
  kind,
  name,
}: Pick<Track, 'kind' | 'name'>): InterruptionKind | undefined {
  if (kind !== 'mark') return undefined;
  if (STALL_MARK.test(name)) return 'stall';
  return COLLECTION_MARK.test(name) ? 'collection' : undefined;
}

/** Whether spans of this name are stalls or collections. */
export function isInterruption(name: string): boolean {
  return kindOfSpan(name) !== undefined;
}
