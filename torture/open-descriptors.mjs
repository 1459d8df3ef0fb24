// What a process has open.

import { existsSync, readdirSync, readlinkSync } from 'node:fs';

/** What a descriptor is for; undefined: it is closed by now, as that of a listing is. @param {string} descriptor */
function targetOf(descriptor) {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}

/** Whether they are the statistics of a living thread: it keeps them open once it has come too late. @param {string} target */
function isOfLivingThread(target) {
  const [, task] = /^(.*\/task\/\d+)\/schedstat$/.exec(target) ?? [];
  return task !== undefined && existsSync(task);
}

/** What each descriptor of this process is for, but for those that a living thread keeps of itself. */
export function openDescriptors() {
  return readdirSync('/proc/self/fd')
    .map(targetOf)
    .filter((target) => target !== undefined && !isOfLivingThread(target));
}
