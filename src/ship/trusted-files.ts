import {
  closeSync,
  constants,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { TracewrightError } from '../core/errors.js';
import { hasCode } from '../core/files/system-error.js';

/**
 * Which files are read and deleted: those below the paths that a person has named, of users who are trusted.
 *
 * The owner of a directory can replace it, and any below it, by a link at any moment. So what counts is the open file,
 * as Linux says where it lies.
 */
export class TrustedFiles {
  readonly #owners: ReadonlySet<number> | undefined;
  /** Directories that were named, without links. */
  readonly #roots = new Set<string>();

  /** @param owners users whose files are trusted; undefined: all. */
  constructor(owners: ReadonlySet<number> | undefined) {
    this.#owners = owners;
  }

  /**
   * Trusts a path that a person has named, and follows links in it.
   *
   * @returns the path without links. @throws the error of node:fs if nothing is there.
   */
  name(path: string): { path: string; directory: string } {
    const real = realpathSync(path);
    const directory = statSync(real).isDirectory() ? real : dirname(real);
    this.#roots.add(directory);
    return { path: real, directory };
  }

  isOwner(uid: number): boolean {
    return this.#owners?.has(uid) !== false;
  }

  /** Judges an open file, for `openRegularFile`. @throws TracewrightError if it is not trusted. */
  readonly check = (path: string, fd: number, { uid }: Stats): void => {
    if (!this.isOwner(uid)) throw untrusted(path, `it belongs to user ${uid} now`);
    const real = realPathOf(fd);
    if (real !== undefined && !this.#isBelow(real)) {
      throw untrusted(path, 'a directory above it leads out of the given paths');
    }
  };

  /** Deletes a file. @throws TracewrightError if a directory above it has become a link. */
  delete(path: string): void {
    const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
    const directory = openSync(dirname(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      const real = realPathOf(directory);
      if (real !== undefined && real !== dirname(path)) {
        throw untrusted(path, 'a directory above it is a link now');
      }
      const held = real === undefined ? path : `/proc/self/fd/${directory}/${basename(path)}`;
      unlinkSync(held);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    } finally {
      closeSync(directory);
    }
  }

  #isBelow(real: string): boolean {
    for (const root of this.#roots) if (real.startsWith(join(root, sep))) return true;
    return false;
  }
}

/** Where an open file lies; undefined: nobody says. */
function realPathOf(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

function untrusted(path: string, why: string): TracewrightError {
  return new TracewrightError('ERR_SYSTEM', `${path} is not read: ${why}`, {
    field: 'path',
    value: path,
  });
}
