import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where the kernel has control groups for memory, and what their files are called. */
const HIERARCHIES = [
  {
    root: '/sys/fs/cgroup',
    limit: 'memory.max',
    swap: ['memory.swap.max', '0'],
    kills: 'memory.events',
  },
  {
    root: '/sys/fs/cgroup/memory',
    limit: 'memory.limit_in_bytes',
    swap: ['memory.swappiness', '0'],
    kills: 'memory.oom_control',
  },
] as const;

type Hierarchy = (typeof HIERARCHIES)[number];

/** A control group whose processes the kernel kills when they take more memory. */
export class MemoryLimit {
  readonly path: string;
  readonly #hierarchy: Hierarchy;

  private constructor(path: string, hierarchy: Hierarchy) {
    this.path = path;
    this.#hierarchy = hierarchy;
  }

  /** Undefined where this user may not limit memory. */
  static set(bytes: number): MemoryLimit | undefined {
    for (const hierarchy of HIERARCHIES) {
      let path: string | undefined;
      try {
        path = mkdtempSync(join(hierarchy.root, 'tracewright-test-'));
        readFileSync(join(path, hierarchy.limit));
        writeFileSync(join(path, hierarchy.limit), String(bytes));
        writeFileSync(join(path, hierarchy.swap[0]), hierarchy.swap[1]);
        return new MemoryLimit(path, hierarchy);
      } catch {
        if (path !== undefined) rmdirSync(path);
      }
    }
    return undefined;
  }

  /** How many processes the kernel has killed here. */
  kills(): number {
    const events = readFileSync(join(this.path, this.#hierarchy.kills), 'utf8');
    return Number(/^oom_kill (\d+)$/m.exec(events)?.[1]);
  }

  /** Resolves once the last process has left. */
  async remove(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        rmdirSync(this.path);
        return;
      } catch (error) {
        if (attempt === 100) throw error;
        await sleep(50);
      }
    }
  }
}

/** Whether this user may limit memory; otherwise tests that need it say so by their name. */
export const mayLimitMemory = await (async () => {
  const limit = process.platform === 'linux' ? MemoryLimit.set(1 << 24) : undefined;
  if (limit === undefined) return false;
  const joining = spawnSync('sh', ['-c', 'echo $$ > "$0"/cgroup.procs', limit.path]);
  await limit.remove();
  return joining.status === 0;
})();
