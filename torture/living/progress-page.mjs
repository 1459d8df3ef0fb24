// A small file that writer and reader share: how many records each thread has recorded for certain, and
// whether the reader reads at the moment.

import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';

const THREADS = 3;
export const FLAG_OFFSET = 8 * THREADS;

/** The reader's side. */
export class ProgressPage {
  #fd;
  #bytes = Buffer.alloc(FLAG_OFFSET);

  constructor(path) {
    writeFileSync(path, Buffer.alloc(FLAG_OFFSET + 1));
    this.#fd = openSync(path, 'r+');
  }

  /** By thread. */
  recorded() {
    readSync(this.#fd, this.#bytes, 0, FLAG_OFFSET, 0);
    return Array.from({ length: THREADS }, (_, thread) => this.#bytes.readDoubleLE(8 * thread));
  }

  noteReading(isReading) {
    writeSync(this.#fd, Buffer.from([isReading ? 1 : 0]), 0, 1, FLAG_OFFSET);
  }

  close() {
    closeSync(this.#fd);
  }
}
