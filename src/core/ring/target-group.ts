import { core } from '../addon.js';
import type { GroupCounts } from '../native-core.js';

/**
 * Targets that the service sees as one: a Heph file, a collector, all streams of an ovni process.
 * They share one budget of bytes and one state, working or failing.
 */

/** Counts of every stream that feeds, or once fed, a target of the group. */
export function groupCounts(group: string): GroupCounts {
  return core.groupCounts(group);
}

/**
 * Ends the recording of a group for good when its targets take `bytes`.
 *
 * @param used bytes that they take already.
 */
export function limitGroup(group: string, bytes: number, used: number): void {
  core.limitGroup(group, bytes, used);
}
