import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode } from '../core/files/system-error.js';
import { lockFile, syncDirectory } from './held-files.js';
import type { UnnamedFile } from './target.js';

/** Below the directory: files that are not complete. */
const UNNAMED = '.tracewright-ship';
const SUFFIX = '.unnamed';
const FROM = /^[\w-]+\.unnamed$/;
const TO = /^date=[\w-]+\/hour=\d\d\/service=[\w%-]+\/[\w-]+\.parquet$/;

/** A directory of complete files. Each gets its name when it is complete. One process writes to it. */
export class ParquetDirectory {
  readonly path: string;
  readonly #lock: number;

  /** @throws TracewrightError `ERR_ORDER` when another process writes to it. */
  constructor(path: string) {
    this.path = path;
    const lock = join(path, UNNAMED, 'lock');
    this.#lock = lockFile(lock, '--to', path, `another process ships to ${path}`);
  }

  /** A path for a new file. */
  unnamedPath(): string {
    return join(this.path, UNNAMED, `${randomUUID()}${SUFFIX}`);
  }

  /** Gives complete files their names. A name that is taken has the same spans: it is replaced. */
  name(files: readonly UnnamedFile[]): void {
    const directories = new Set<string>();
    for (const { from, to } of files) {
      // They may come from a file that others have written.
      if (!FROM.test(from) || !TO.test(to)) continue;
      const path = join(this.path, to);
      mkdirSync(dirname(path), { recursive: true });
      try {
        renameSync(join(this.path, UNNAMED, from), path);
      } catch (error) {
        // It has its name.
        if (!hasCode(error, 'ENOENT')) throw error;
      }
      for (let at = dirname(path); at.length >= this.path.length; at = dirname(at)) {
        directories.add(at);
      }
    }
    for (const directory of directories) syncDirectory(directory);
  }

  /** Deletes what an earlier process has not completed. */
  clean(): void {
    const directory = join(this.path, UNNAMED);
    for (const name of readdirSync(directory)) {
      if (FROM.test(name)) rmSync(join(directory, name), { force: true });
    }
  }

  close(): void {
    closeSync(this.#lock);
  }
}
