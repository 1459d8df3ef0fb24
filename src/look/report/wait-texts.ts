import type { Group, WaitedFor } from './report-shape.js';
import { nameWithTarget } from './request-name.js';

/** What took a smaller part is not named. */
const LEAST_SHARE = 0.005;

/** What was waited for, without what took less than half a percent. */
export function longestWaits({ waitedFor }: { waitedFor: readonly WaitedFor[] }): WaitedFor[] {
  return waitedFor.filter(({ share }, at) => at === 0 || share >= LEAST_SHARE);
}

/** What a called thread did before it could begin. */
export const PAUSE_TEXTS = {
  stall: 'blocked event loop',
  collection: 'garbage collection',
} as const;

export function waitName(waited: WaitedFor): string {
  if (waited.kind !== 'span') return PAUSE_TEXTS[waited.kind];
  return waited.isItself ? 'itself' : nameWithTarget(waited);
}

/** Also says whose event loop it was. */
export function waitNameOf(waited: WaitedFor): string {
  const { kind, service } = waited;
  return kind === 'span' || service === null
    ? waitName(waited)
    : `${waitName(waited)} of ${service}`;
}

/** Those whose spans waited for anything but themselves. */
export function waitingGroups(groups: readonly Group[]): Group[] {
  return groups.filter(({ waitedFor }) => waitedFor.some(({ isItself }) => !isItself));
}
