import type { TrackAnswer } from '../../look/wire/answers.js';

/** What keeps a thread from working. It has a colour of its own: it is nothing that anybody asked for. */
export type InterruptionKind = 'stall' | 'collection';

/** What spans of this name are. */
export function kindOfName(name: string): InterruptionKind | undefined {
  if (name === 'event loop blocked') return 'stall';
  return name.startsWith('gc ') ? 'collection' : undefined;
}

/** What all rows of a track are: ovni has marks of one kind on each. */
export function kindOfTrack({ kind, name }: TrackAnswer): InterruptionKind | undefined {
  if (kind !== 'mark') return undefined;
  if (/event loop blocked|stalls of/i.test(name)) return 'stall';
  return /garbage collection/i.test(name) ? 'collection' : undefined;
}

/** As HTML has it. */
export function cssColour(kind: InterruptionKind): string {
  return `var(--${kind})`;
}
