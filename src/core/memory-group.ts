import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MOUNT = '/sys/fs/cgroup';
/** Version 1 says this of a group without a limit, or somewhat less. */
const NO_LIMIT = 2 ** 60;

interface GroupFiles {
  readonly directory: string;
  readonly limit: string;
  readonly used: string;
  readonly events: string;
}

/** The group of a process by the text of its `/proc/self/cgroup`, in the order in which they are looked for. */
function* filesOf(groups: string): Generator<GroupFiles, void> {
  const [, first] = /^\d+:(?:[^:\n]*,)?memory(?:,[^:\n]*)?:(.*)$/m.exec(groups) ?? [];
  const [, second] = /^0::(.*)$/m.exec(groups) ?? [];
  // A container may see its own group as the mount, while the text names it as its host does.
  if (first !== undefined) {
    for (const path of [first, '']) {
      yield {
        directory: join(MOUNT, 'memory', path),
        limit: 'memory.limit_in_bytes',
        used: 'memory.usage_in_bytes',
        events: 'memory.oom_control',
      };
    }
  }
  if (second !== undefined) {
    for (const path of [second, '']) {
      yield {
        directory: join(MOUNT, path),
        limit: 'memory.max',
        used: 'memory.current',
        events: 'memory.events',
      };
    }
  }
}

/** The control group of Linux whose limit of memory holds for this process, of version 1 or 2. */
export class MemoryGroup {
  /** Its inode, which no other group of the host has. */
  readonly id: string;
  /** Bytes; undefined: it has none of its own. */
  readonly limit: number | undefined;
  readonly #used: string;
  readonly #events: string;

  static #own: MemoryGroup | null | undefined;

  /** Undefined: there is none, or it cannot be read. */
  static own(): MemoryGroup | undefined {
    if (this.#own === undefined) this.#own = this.#find() ?? null;
    return this.#own ?? undefined;
  }

  static #find(): MemoryGroup | undefined {
    if (process.platform !== 'linux') return undefined;
    try {
      for (const files of filesOf(readFileSync('/proc/self/cgroup', 'utf8'))) {
        try {
          return new MemoryGroup(files);
        } catch {
          // It is not there.
        }
      }
    } catch {
      // Without /proc there are no groups.
    }
    return undefined;
  }

  private constructor({ directory, limit, used, events }: GroupFiles) {
    this.id = String(statSync(directory).ino);
    this.#used = join(directory, used);
    this.#events = join(directory, events);
    const most = Number(readFileSync(join(directory, limit), 'utf8'));
    this.limit = most > 0 && most < NO_LIMIT ? most : undefined;
  }

  /**
   * Bytes that it uses, and how many of its processes the kernel has killed for want of memory. It takes 20 µs.
   *
   * @returns undefined: it is gone.
   */
  read(): { used: number; kills: number } | undefined {
    try {
      const used = Number(readFileSync(this.#used, 'utf8'));
      const [, kills] = /^oom_kill (\d+)$/m.exec(readFileSync(this.#events, 'utf8')) ?? [];
      return { used, kills: Number(kills ?? 0) };
    } catch {
      return undefined;
    }
  }
}
