import { wrapSystemError } from '../../core/files/system-error.js';
import { wellFormedJson } from '../../core/json.js';
import { replaceFile } from '../../core/native-calls.js';
import { recordsNothing } from '../../core/off.js';
import { holdingSignals } from '../../core/signals.js';
import { isMainThread } from '../../core/system-thread.js';
import { STREAM_METADATA } from '../file-names.js';
import { library, models, WRITER } from '../metadata-keys.js';
import { writeProcessMetadata } from './process-metadata.js';
import type { CpuEntry } from './process-note.js';
import type { StreamDirectory } from './stream-directory.js';

/** A mark type as one thread has defined it. */
export interface MarkDefinition {
  title: string;
  stack: boolean;
  labels: Map<string, string>;
}

/** Collects a burst of labels, and is short against a reader's patience. */
const DELAY_MS = 50;
/** Changes of a worker that are written at once in that time: it may be terminated before a timer fires. */
const AT_ONCE = 32;
const RETRY_MS = 1000;

/** Marks, attributes and required models of one stream's metadata. */
export class StreamMetadata {
  /** Mark types by number that this thread has defined or used. */
  readonly marks: (MarkDefinition | undefined)[] = [];
  /** Attributes outside the names that ovni keeps for itself. */
  attributes: Record<string, unknown> = {};
  /** Model names, with the versions that the events follow. */
  readonly required = new Map<string, string>([['ovni', models.ovni.version]]);
  cpus: CpuEntry[] = [];
  readonly #directoryOf: () => StreamDirectory | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the files lack something. */
  #due = false;
  /** Changes that may be written at once, and since when, by `performance.now`. */
  #atOnce = AT_ONCE;
  #since = 0;

  /** @param directoryOf where the stream lies; undefined while it is closed. */
  constructor(directoryOf: () => StreamDirectory | undefined) {
    this.#directoryOf = directoryOf;
  }

  /** Says nothing again. */
  clear(): void {
    this.marks.length = 0;
    this.attributes = {};
    this.required.clear();
    this.required.set('ovni', models.ovni.version);
    this.cpus = [];
  }

  /** Writes metadata that changes often (labels) soon. */
  writeSoon(delayMs = DELAY_MS): void {
    this.#due = true;
    if (delayMs === DELAY_MS && !isMainThread && this.#writtenAtOnce()) return;
    this.#timer ??= setTimeout(() => {
      try {
        this.write();
      } catch {
        // No caller is there to catch it: a full disk, for example.
        this.writeSoon(RETRY_MS);
      }
    }, delayMs).unref();
  }

  #writtenAtOnce(): boolean {
    const now = performance.now();
    if (now - this.#since > DELAY_MS) {
      this.#since = now;
      this.#atOnce = AT_ONCE;
    }
    if (this.#atOnce-- <= 0) return false;
    try {
      this.write();
      return true;
    } catch {
      // The timer tries again.
      return false;
    }
  }

  /** Writes now what {@link writeSoon} was to write later, or what failed; else nothing. */
  writeDue(): void {
    if (this.#due) this.write();
  }

  /**
   * Writes the metadata now, of the running stream and of the finished one.
   *
   * @param ending whether this process finishes the stream itself.
   */
  write(ending = false): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const directory = this.#directoryOf();
    if (directory === undefined || recordsNothing()) return;
    this.#due = true;
    const { process, tid, files, owner } = directory;
    if (process.version === 1) {
      const { ovni, ...others } = this.#json(true);
      const owned = ending ? ovni : { ...ovni, [WRITER]: owner };
      writeProcessMetadata(process, { tid, metadata: { ovni: owned, ...others } });
      this.#due = false;
      return;
    }
    const { fileMode } = process.ring;
    wrapSystemError(STREAM_METADATA, files.directory, () => {
      // A signal between the two would finish the stream with metadata that this replaces.
      holdingSignals(() => {
        replaceFile(files.metadata, this.#streamJson(directory, false), fileMode);
        replaceFile(files.finishedMetadata, this.#streamJson(directory, true), fileMode);
      });
    });
    this.#due = false;
  }

  #json(finished: boolean): { ovni: Record<string, unknown> } & Record<string, unknown> {
    const ovni: Record<string, unknown> = { require: Object.fromEntries(this.required) };
    const marks = this.marks.flatMap((mark, type) =>
      mark === undefined
        ? []
        : [
            [
              String(type),
              {
                title: mark.title,
                chan_type: mark.stack ? 'stack' : 'single',
                labels: Object.fromEntries(mark.labels),
              },
            ] as const,
          ],
    );
    if (marks.length > 0) ovni['mark'] = Object.fromEntries(marks);
    if (finished) ovni['finished'] = 1;
    return { ovni, ...this.attributes };
  }

  #streamJson({ process, tid, owner }: StreamDirectory, finished: boolean): string {
    const { app, epoch, loom, pid, rank } = process;
    const { ovni, ...others } = this.#json(finished);
    return `${wellFormedJson(
      {
        version: 3,
        ovni: {
          // Readers want a version and a commit here and ignore the rest.
          lib: { ...library, epoch, ...(finished ? {} : { [WRITER]: owner }) },
          part: 'thread',
          tid,
          pid,
          loom,
          app_id: app,
          ...rank,
          ...(this.cpus.length > 0 ? { loom_cpus: this.cpus } : {}),
          ...ovni,
        },
        ...others,
      },
      2,
    )}\n`;
  }
}
