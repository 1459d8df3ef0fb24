import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Answers } from '../look-index.js';
import {
  type CacheDirectory,
  INDEX_FILE,
  newFileIn,
  replaceIndex,
  touch,
} from './cache-directory.js';
import { ColumnFile, DamagedIndex, writeColumns } from './column-file.js';
import { identityOf } from './trace-identity.js';

/** A file that was read, up to `end`. */
export interface ReadFile {
  path: string;
  end: number;
}

/** Answers that are made in less time are not kept, in ms. */
const LEAST_TIME = 100;

/** Answers about recordings that do not change any more. Another run reads them while the files are the same. */
export class KeptAnswers implements Answers {
  readonly #directory: CacheDirectory;
  readonly #files: readonly ReadFile[];
  readonly #facts: readonly string[];
  #stamp: string | undefined;

  /**
   * @param files all that was read: answers are pruned when the first is gone.
   * @param facts what else is known of the recordings, and of the code: with others, an answer is of no use.
   */
  constructor(directory: CacheDirectory, files: readonly ReadFile[], facts: readonly string[]) {
    this.#directory = directory;
    this.#files = files;
    this.#facts = facts;
  }

  read(question: string): unknown {
    const entry = this.#directory.pathOf(this.#key(question));
    try {
      const file = new ColumnFile(join(entry, INDEX_FILE));
      file.close();
      const { stamp, answer } = file.facts as { stamp?: unknown; answer?: unknown };
      if (stamp !== this.#stampNow()) return undefined;
      touch(entry);
      return answer;
    } catch (error) {
      if (error instanceof DamagedIndex) return undefined;
      throw error;
    }
  }

  keep(question: string, answer: unknown, took: number): void {
    if (took < LEAST_TIME) return;
    try {
      const entry = this.#directory.entryOf(this.#key(question));
      const { path } = this.#files[0]!;
      const written = newFileIn(entry, INDEX_FILE);
      writeColumns(written, { path, stamp: this.#stampNow(), answer }, {});
      replaceIndex(entry, written, []);
    } catch {
      // A full disk, or files that are gone: the next run makes the answer anew.
    }
  }

  #key(question: string): string[] {
    return [question, ...this.#files.map(({ path }) => path)];
  }

  #stampNow(): string {
    if (this.#stamp !== undefined) return this.#stamp;
    const identities = this.#files.map(({ path, end }) => identityOf(path, end));
    const hash = createHash('sha256').update(JSON.stringify([identities, this.#facts]));
    return (this.#stamp = hash.digest('hex'));
  }
}
