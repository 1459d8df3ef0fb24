import { readFileSync } from 'node:fs';

// Linux says both in small files. Loading `node:os` and asking it costs more than reading them, and
// for a list of CPUs it reads the frequency of each.

function os(): typeof import('node:os') {
  return process.getBuiltinModule('node:os');
}

function lineOf(path: string): string {
  try {
    return process.platform === 'linux' ? readFileSync(path, 'utf8').trim() : '';
  } catch {
    return '';
  }
}

/** The name of the machine, or of the container. */
export function hostName(): string {
  return lineOf('/proc/sys/kernel/hostname') || os().hostname();
}

/** How many CPUs a list such as `0-3,5` has; undefined: it is no such list. */
export function countOfList(list: string): number | undefined {
  let count = 0;
  for (const range of list.split(',')) {
    if (!/^\d+(?:-\d+)?$/.test(range)) return undefined;
    const [first = 0, last = first] = range.split('-').map(Number);
    if (last < first) return undefined;
    count += last - first + 1;
  }
  return count;
}

/** How many CPUs are online. */
export function cpuCount(): number {
  return countOfList(lineOf('/sys/devices/system/cpu/online')) ?? os().cpus().length;
}
