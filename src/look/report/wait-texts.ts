import type { Group, SlowTrace, WaitedFor } from './report-shape.js';
import { nameWithTarget } from './request-name.js';
import { durationText, shareText } from './units.js';

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

/** `SELECT 71.4 %, itself 20 %`. */
export function waitShares(waiting: { waitedFor: readonly WaitedFor[] }): string {
  const parts = longestWaits(waiting).map((each) => `${waitNameOf(each)} ${shareText(each.share)}`);
  return parts.join(', ');
}

/** `waited for SELECT 71.4 ms (58.2 %), itself 20 ms (16.3 %)`; undefined: for nothing. */
export function waitedText(trace: SlowTrace): string | undefined {
  if (trace.waitedFor.length === 0) return undefined;
  const parts = longestWaits(trace).map(
    (each) => `${waitNameOf(each)} ${durationText(each.time)} (${shareText(each.share)})`,
  );
  return `waited for ${parts.join(', ')}`;
}
