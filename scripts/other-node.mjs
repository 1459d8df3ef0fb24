// Another version of Node, which npm brings as a package: no install script has to run.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const VERSION = /^\d+(\.\d+){0,2}$/;

/**
 * The directory of a Node's binary.
 *
 * @param {string} version such as 24, or 24.1.0.
 * @throws when npm cannot install it.
 */
export function otherNode(version) {
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  const name = `${prefix}-${process.platform}-${process.arch}`;
  const place = join(tmpdir(), `tracewright-node-${version}`);
  const directory = join(place, 'node_modules', name, 'bin');
  if (!existsSync(join(directory, 'node'))) {
    mkdirSync(place, { recursive: true });
    const { status } = spawnSync(
      'npm',
      ['install', '--prefix', place, '--no-audit', '--no-fund', `${name}@${version}`],
      // What the calling program prints on standard output may be JSON.
      { stdio: ['ignore', 2, 2] },
    );
    if (status !== 0) throw new Error(`npm could not install ${name}@${version}`);
  }
  return directory;
}
