import type { Group, WaitedFor } from './report-shape.js';

/** What took a smaller part is not named. */
const LEAST_SHARE = 0.005;

/** What was waited for, without what took less than half a percent. */
export function longestWaits({ waitedFor }: { waitedFor: readonly WaitedFor[] }): WaitedFor[] {
  return waitedFor.filter(({ share }, at) => at === 0 || share >= LEAST_SHARE);
}

export function waitName({ name, isItself }: Pick<WaitedFor, 'name' | 'isItself'>): string {
  return isItself ? 'itself' : name;
}

/** Those whose spans waited for anything but themselves. */
export function waitingGroups(groups: readonly Group[]): Group[] {
  return groups.filter(({ waitedFor }) => waitedFor.some(({ isItself }) => !isItself));
}
