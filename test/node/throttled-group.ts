import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Microseconds: how much of each period a group may run. */
const QUOTA = 20_000;
const PERIOD = 100_000;

const VERSION_1 = '/sys/fs/cgroup/cpu';
const VERSION_2 = '/sys/fs/cgroup';

/** A control group of Linux whose processes get a fifth of a CPU, as a container's quota has it. */
export class ThrottledGroup {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Undefined where the user may make none. */
  static make(name: string): ThrottledGroup | undefined {
    const path = join(existsSync(VERSION_1) ? VERSION_1 : VERSION_2, name);
    try {
      mkdirSync(path);
    } catch {
      return undefined;
    }
    try {
      if (existsSync(join(path, 'cpu.cfs_quota_us'))) {
        writeFileSync(join(path, 'cpu.cfs_period_us'), String(PERIOD));
        writeFileSync(join(path, 'cpu.cfs_quota_us'), String(QUOTA));
      } else {
        writeFileSync(join(path, 'cpu.max'), `${QUOTA} ${PERIOD}`);
      }
      return new ThrottledGroup(path);
    } catch {
      rmdirSync(path);
      return undefined;
    }
  }

  /** Throttles a process from now on. */
  add(pid: number): void {
    writeFileSync(join(this.#path, 'cgroup.procs'), String(pid));
  }

  /** Once its processes have ended. */
  async remove(): Promise<void> {
    for (let tries = 0; tries < 50; tries++) {
      try {
        rmdirSync(this.#path);
        return;
      } catch {
        // The kernel has not let go of the last one yet.
        await pause(20);
      }
    }
  }
}
