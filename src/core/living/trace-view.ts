import { closeSync, fstatSync } from 'node:fs';
import { TracewrightError } from '../errors.js';
import { showView } from '../files/file-view.js';
import type { FileView } from '../files/file-view.js';
import { openRegularFile } from '../files/regular-file.js';
import { wrapSystemError } from '../files/system-error.js';

/** Whether the process of a trace runs, and how it has ended. */
type WriterState = 'ended' | 'growing' | 'died';

/**
 * Shows one trace after another.
 *
 * @param ringDirs more directories with rings than that of the trace.
 */
export type TraceViewer = (path: string, ringDirs?: readonly string[]) => TraceView;

/**
 * A trace as its rings complete it, for every reader in this thread until it is closed: the records that a
 * live process has not written yet, and the end that a recovery would write. Nothing on disk changes.
 */
export class TraceView {
  /** Bytes that were copied from rings and discarded: they are in the file. */
  overtaken = 0;
  /** Why a ring, or a file, is shown without what completes it. */
  readonly faults: TracewrightError[] = [];
  readonly #pids = new Set<number>();
  readonly #ends: (() => void)[] = [];
  #hasDied = false;

  /** `growing`: a live process writes it. */
  get state(): WriterState {
    if (this.#pids.size > 0) return 'growing';
    return this.#hasDied ? 'died' : 'ended';
  }

  /** Live processes that write it, in ascending order. */
  get pids(): readonly number[] {
    return [...this.#pids].sort((a, b) => a - b);
  }

  noteAlive(pid: number): void {
    this.#pids.add(pid);
  }

  noteDead(): void {
    this.#hasDied = true;
  }

  /** Shows a view of an open file. Another one of the same file replaces it. */
  show(fd: number, view: FileView): void {
    this.#ends.push(showView(fstatSync(fd), view));
  }

  /**
   * Completes one file. What is wrong with it, or with its ring, leaves it as it is.
   *
   * @param complete gets the open file.
   */
  ofFile(path: string, complete: (fd: number) => void): void {
    try {
      const { fd } = wrapSystemError('path', path, () => openRegularFile(path, 'followed'));
      try {
        complete(fd);
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      if (!(error instanceof TracewrightError)) throw error;
      this.faults.push(error);
    }
  }

  close(): void {
    for (const end of this.#ends) end();
    this.#ends.length = 0;
  }
}
