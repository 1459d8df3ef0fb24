import type { Group } from './report-shape.js';
import type { SlowTrace, WaitedFor } from './trace-shape.js';
import { nameWithTarget } from './request-name.js';
import { durationText, shareText } from './units.js';

/** What took a smaller part is not named. */
const LEAST_SHARE = 0.005;

/** What was waited for, without what took less than half a percent. */
function longestWaits({ waitedFor }: { waitedFor: readonly WaitedFor[] }): WaitedFor[] {
  return waitedFor.filter(({ share }, at) => at === 0 || share >= LEAST_SHARE);
}

/** What a called thread did before it could begin. */
export const PAUSE_TEXTS = {
  stall: 'blocked event loop',
  collection: 'garbage collection',
} as const;

/** `UPDATE ledger in billing`, if another service than the waiting one did it; of a pause, whose event loop it was. */
function waitName(waited: WaitedFor, waiting: string | null): string {
  const { kind, service, isItself } = waited;
  if (kind !== 'span') return `${PAUSE_TEXTS[kind]}${service === null ? '' : ` of ${service}`}`;
  if (isItself) return 'itself';
  const isElsewhere = service !== null && service !== waiting;
  return `${nameWithTarget(waited)}${isElsewhere ? ` in ${service}` : ''}`;
}

/** Those whose spans waited for anything but themselves. */
export function waitingGroups(groups: readonly Group[]): Group[] {
  return groups.filter(({ waitedFor }) => waitedFor.some(({ isItself }) => !isItself));
}

/** `SELECT 71.4 %, itself 20 %`. */
export function waitShares(waiting: {
  service: string | null;
  waitedFor: readonly WaitedFor[];
}): string {
  const parts = longestWaits(waiting).map(
    (each) => `${waitName(each, waiting.service)} ${shareText(each.share)}`,
  );
  return parts.join(', ');
}

/** `waited for SELECT 71.4 ms (58.2 %), itself 20 ms (16.3 %)`; undefined: for nothing. */
export function waitedText(trace: SlowTrace): string | undefined {
  if (trace.waitedFor.length === 0) return undefined;
  const parts = longestWaits(trace).map(
    (each) =>
      `${waitName(each, trace.service)} ${durationText(each.time)} (${shareText(each.share)})`,
  );
  return `waited for ${parts.join(', ')}`;
}
