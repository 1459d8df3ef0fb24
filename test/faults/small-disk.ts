import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** A file system of its own, small enough to fill. */
export class SmallDisk {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Undefined where this user may not mount. */
  static mount(kib: number): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'tracewright-disk-'));
    if (run('mount', '-t', 'tmpfs', '-o', `size=${kib}k`, 'tracewright-test', path)) {
      return new SmallDisk(path);
    }
    rmSync(path, { recursive: true });
    return undefined;
  }

  /** Takes up every byte that is left. */
  fill(): void {
    const fd = openSync(join(this.path, 'balloon'), 'a');
    for (const bytes of [4096, 1]) {
      try {
        for (;;) writeSync(fd, Buffer.alloc(bytes));
      } catch {
        // Full.
      }
    }
    closeSync(fd);
  }

  free(): void {
    rmSync(join(this.path, 'balloon'), { force: true });
  }

  remount(option: 'ro' | 'rw'): boolean {
    return run('mount', '-o', `remount,${option}`, this.path);
  }

  unmount(): void {
    run('umount', '-l', this.path);
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Whether this user may mount; otherwise tests that need it say so by their name. */
export const mayMount = ((): boolean => {
  const disk = process.platform === 'linux' ? SmallDisk.mount(64) : undefined;
  disk?.unmount();
  return disk !== undefined;
})();
