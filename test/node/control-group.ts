import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Microseconds: how much of each period a throttled group may run. */
const QUOTA = 20_000;
const PERIOD = 100_000;

/** In version 1 each controller has groups of its own below its name, in version 2 there is one kind of group. */
const ROOT = '/sys/fs/cgroup';

/** A control group of Linux, of which containers are made. */
export class ControlGroup {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** One whose processes get a fifth of a CPU, as by a container's quota. Undefined: the user may make none. */
  static throttled(name: string): ControlGroup | undefined {
    return ControlGroup.#make('cpu', name, (group) => {
      if (group.#has('cpu.cfs_quota_us')) {
        group.#write('cpu.cfs_period_us', String(PERIOD));
        group.#write('cpu.cfs_quota_us', String(QUOTA));
      } else {
        group.#write('cpu.max', `${QUOTA} ${PERIOD}`);
      }
    });
  }

  /** One that can be frozen, as `docker pause` does it. Undefined: the user may make none. */
  static freezable(name: string): ControlGroup | undefined {
    return ControlGroup.#make('freezer', name, (group) => {
      group.freeze(false);
    });
  }

  static #make(
    controller: string,
    name: string,
    set: (group: ControlGroup) => void,
  ): ControlGroup | undefined {
    const ofController = join(ROOT, controller);
    const path = join(existsSync(ofController) ? ofController : ROOT, name);
    try {
      mkdirSync(path);
    } catch {
      return undefined;
    }
    const group = new ControlGroup(path);
    try {
      set(group);
      return group;
    } catch {
      rmdirSync(path);
      return undefined;
    }
  }

  /** Adds a process, with all its threads. */
  add(pid: number): void {
    this.#write('cgroup.procs', String(pid));
  }

  freeze(isFrozen: boolean): void {
    if (this.#has('freezer.state')) this.#write('freezer.state', isFrozen ? 'FROZEN' : 'THAWED');
    else this.#write('cgroup.freeze', isFrozen ? '1' : '0');
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

  #has(file: string): boolean {
    return existsSync(join(this.#path, file));
  }

  #write(file: string, text: string): void {
    writeFileSync(join(this.#path, file), text);
  }
}
