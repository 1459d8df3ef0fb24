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

/** Answers about recordings that do not change any more. Another run reads them while the files are the same. */
export class KeptAnswers implements Answers {
  readonly #directory: CacheDirectory;
  readonly #files: readonly ReadFile[];
  readonly #facts: string;
  #identities: string | undefined;

  /**
   * @param files all that was read: answers are pruned when the first is gone.
   * @param facts what else is known of the recordings: with others, an answer is of no use.
   */
  constructor(directory: CacheDirectory, files: readonly ReadFile[], facts: string) {
    this.#directory = directory;
    this.#files = files;
    this.#facts = facts;
  }

  /** The answer to a question, as it was kept by the same code; undefined: there is none. */
  read(question: string, code: string): unknown {
    const entry = this.#directory.pathOf(this.#key(question));
    try {
      const file = new ColumnFile(join(entry, INDEX_FILE));
      file.close();
      const { stamp, answer } = file.facts as { stamp?: unknown; answer?: unknown };
      if (stamp !== this.#stampOf(code)) return undefined;
      touch(entry);
      return answer;
    } catch (error) {
      if (error instanceof DamagedIndex) return undefined;
      throw error;
    }
  }

  /** @param answer JSON. */
  keep(question: string, code: string, answer: unknown): void {
    const entry = this.#directory.entryOf(this.#key(question));
    const { path } = this.#files[0]!;
    const written = newFileIn(entry, INDEX_FILE);
    writeColumns(written, { path, stamp: this.#stampOf(code), answer }, {});
    replaceIndex(entry, written, []);
  }

  #key(question: string): string[] {
    return [question, ...this.#files.map(({ path }) => path)];
  }

  #stampOf(code: string): string {
    this.#identities ??= JSON.stringify(this.#files.map(({ path, end }) => identityOf(path, end)));
    const stamp = [code, this.#facts, this.#identities].join('\n');
    return createHash('sha256').update(stamp).digest('hex');
  }
}
