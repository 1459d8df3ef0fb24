// A small file system of its own, to be filled.

import { spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MIB = 1 << 20;

/** Whether this machine lets us mount one, and why not. */
export function mountRefusal(directory) {
  const refused = mount(directory, 4);
  if (refused === undefined) unmount(directory);
  return refused;
}

function mount(directory, mebibytes) {
  const { status, stderr, error } = spawnSync(
    'mount',
    ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tracewright', directory],
    { encoding: 'utf8' },
  );
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

function unmount(directory) {
  spawnSync('umount', ['-l', directory]);
}

/** A mounted tmpfs with ballast in it, that can be thrown off to make space. */
export class SmallFileSystem {
  constructor(directory, mebibytes, ballast) {
    const refused = mount(directory, mebibytes);
    if (refused !== undefined) throw new Error(`cannot mount a tmpfs: ${refused}`);
    this.directory = directory;
    this.ballast = ballast.map((size, index) => {
      const path = join(directory, `.ballast-${index}`);
      writeFileSync(path, Buffer.alloc(size * MIB));
      return path;
    });
  }

  get isFull() {
    return statfsSync(this.directory).bavail === 0;
  }

  throwOff() {
    const path = this.ballast.pop();
    if (path !== undefined) rmSync(path);
  }

  unmount() {
    unmount(this.directory);
  }
}
