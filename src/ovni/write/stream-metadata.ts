import { wrapSystemError } from '../../core/files/system-error.js';
import { wellFormedJson } from '../../core/json.js';
import { replaceFile } from '../../core/native-calls.js';
import { recordsNothing } from '../../core/off.js';
import { holdingSignals } from '../../core/signals.js';
import type { Ring } from '../../core/ring/ring.js';
import { STREAM_METADATA } from '../file-names.js';
import { library, models, WRITER } from '../metadata-keys.js';
import { threadEntry, writeProcessMetadata } from './process-metadata.js';
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
const RETRY_MS = 1000;

/** Keys of pieces, in the order in which they follow each other: a mark type has one for each label. */
const HEAD = 0;
const OF_MARK = 2 ** 22;
const AFTER_MARKS = 2 ** 51;
const END = 2 ** 52;

/** Texts that make a JSON object together, by their keys. */
class Pieces {
  readonly keys: number[] = [];
  readonly texts: string[] = [];

  add(key: number, text: string): void {
    this.keys.push(key);
    this.texts.push(text);
  }

  get text(): string {
    return this.texts.join('');
  }
}

const labelText = (value: string, label: string): string =>
  `${JSON.stringify(value)}:${wellFormedJson(label)}`;

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
  readonly #ringOf: () => Ring;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the files lack something. */
  #due = false;
  /** The keys of pieces that the ring has: of mark types, and of attributes. */
  readonly #markKeys = new Map<number, number>();
  readonly #attributeKeys = new Map<string, number>();

  /**
   * @param directoryOf where the stream lies; undefined while it is closed.
   * @param ringOf has what the stream ends with, as the thread may be terminated at any time.
   */
  constructor(directoryOf: () => StreamDirectory | undefined, ringOf: () => Ring) {
    this.#directoryOf = directoryOf;
    this.#ringOf = ringOf;
  }

  /** Says nothing again. */
  clear(): void {
    this.marks.length = 0;
    this.attributes = {};
    this.required.clear();
    this.required.set('ovni', models.ovni.version);
    this.cpus = [];
  }

  /** Notes a label that `marks` has: it is written soon, and at the end in any case. */
  labelled(type: number, value: string, label: string): void {
    const key = this.#markKeys.get(type);
    const { size } = this.marks[type]!.labels;
    const separator = size === 1 ? '' : ',';
    if (key !== undefined) this.#noteEnd(key + size, separator + labelText(value, label));
    this.writeSoon();
  }

  /** The same of a mark type. */
  adopted(): void {
    const directory = this.#directoryOf();
    if (directory !== undefined) this.#setEnd(directory);
    this.writeSoon();
  }

  /** The same of an attribute of the object `attributes`. */
  attributed(name: string): void {
    let key = this.#attributeKeys.get(name);
    if (key === undefined) {
      key = AFTER_MARKS + 1 + this.#attributeKeys.size;
      this.#attributeKeys.set(name, key);
    }
    this.#noteEnd(key, this.#attributeText(name));
    this.writeSoon();
  }

  #noteEnd(key: number, text: string): void {
    if (this.#directoryOf() !== undefined)
      this.#ringOf().setEndMetadata([key], [text], false, true);
  }

  /** Has the native core write all of the metadata should the thread end before `write` has. */
  #setEnd(directory: StreamDirectory): void {
    this.#markKeys.clear();
    this.#attributeKeys.clear();
    const { keys, texts } = this.#pieces(directory, true, this.#markKeys, this.#attributeKeys);
    const { process, tid } = directory;
    if (process.version === 1) {
      texts[0] = threadEntry(tid, texts[0]!);
    }
    this.#ringOf().setEndMetadata(keys, texts, true, true);
  }

  /** Writes metadata that changes often soon. */
  writeSoon(delayMs = DELAY_MS): void {
    this.#due = true;
    this.#timer ??= setTimeout(() => {
      try {
        this.write();
      } catch {
        // No caller is there to catch it: a full disk, for example.
        this.writeSoon(RETRY_MS);
      }
    }, delayMs).unref();
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
    const { process, tid, files } = directory;
    const { fileMode } = process.ring;
    this.#setEnd(directory);
    if (process.version === 1) {
      const metadata = this.#pieces(directory, ending).text;
      writeProcessMetadata(process, { tid, metadata });
    } else {
      wrapSystemError(STREAM_METADATA, files.directory, () => {
        // A signal between the two would finish the stream with metadata that this replaces.
        holdingSignals(() => {
          replaceFile(files.metadata, this.#pieces(directory, false).text, fileMode);
          replaceFile(files.finishedMetadata, this.#pieces(directory, true).text, fileMode);
        });
      });
    }
    // In version 1 the end has something to write in any case: nobody writes the stream any more.
    const isDue = process.version === 1 && !ending;
    this.#ringOf().setEndMetadata([], [], ending, isDue);
    this.#due = false;
  }

  /**
   * @param finished whether it is the metadata of the finished stream; else it says who writes it.
   * @param markKeys takes the keys of mark types.
   * @param attributeKeys takes the keys of attributes.
   */
  #pieces(
    { process, tid, owner }: StreamDirectory,
    finished: boolean,
    markKeys?: Map<number, number>,
    attributeKeys?: Map<string, number>,
  ): Pieces {
    const { version, app, epoch, loom, pid, rank } = process;
    const writer = finished ? {} : { [WRITER]: owner };
    const require = Object.fromEntries(this.required);
    const ovni =
      version === 1
        ? { ...writer, require, finished: 1 }
        : {
            // Readers want a version and a commit here and ignore the rest.
            lib: { ...library, epoch, ...writer },
            ...{ part: 'thread', tid, pid, loom, app_id: app, ...rank },
            ...(this.cpus.length > 0 ? { loom_cpus: this.cpus } : {}),
            require,
            ...(finished ? { finished: 1 } : {}),
          };
    const pieces = new Pieces();
    const head = wellFormedJson(ovni).slice(0, -1);
    pieces.add(HEAD, `{${version === 1 ? '' : '"version":3,'}"ovni":${head}`);
    let key = HEAD;
    for (const [type, mark] of this.marks.entries()) {
      if (mark === undefined) continue;
      const labels = [...mark.labels].map(([value, label]) => labelText(value, label));
      const { title, stack } = mark;
      const kind = stack ? 'stack' : 'single';
      const before = key === HEAD ? ',"mark":{' : ',';
      const start = `"${type}":{"title":${wellFormedJson(title)},"chan_type":"${kind}","labels":{`;
      key += OF_MARK;
      pieces.add(key, before + start + labels.join(','));
      pieces.add(key + OF_MARK - 1, '}}');
      markKeys?.set(type, key);
    }
    pieces.add(AFTER_MARKS, key === HEAD ? '}' : '}}');
    key = AFTER_MARKS;
    for (const name of Object.keys(this.attributes)) {
      pieces.add(++key, this.#attributeText(name));
      attributeKeys?.set(name, key);
    }
    pieces.add(END, version === 1 ? '}' : '}\n');
    return pieces;
  }

  #attributeText(name: string): string {
    return `,${wellFormedJson(name)}:${wellFormedJson(this.attributes[name])}`;
  }
}
