import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nameToken } from './name-token.js';
import { ParquetDirectory } from './parquet-directory.js';
import { ParquetPart, timeOf } from './parquet-part.js';
import type { ParquetSettings } from './parquet-settings.js';
import type { Outcome, ShipBatch, ShipTarget, TargetStore, UnnamedFile } from './target.js';

/** Bytes of all parts in memory. */
const MOST_MEMORY = 24 << 20;
/** Parts at once: a backlog of many hours and services makes more files. */
const MOST_PARTS = 64;
/** After an error it is tried again after this time, in milliseconds. */
const AGAIN_MS = 10_000;
const HOUR_MS = 3_600_000;

/** Writes spans into files of Parquet: by hour and service. */
export class ParquetTarget implements ShipTarget {
  readonly label: string;
  readonly store: TargetStore;
  readonly #settings: ParquetSettings;
  readonly #directory: ParquetDirectory;
  readonly #onNote: (text: string) => void;
  readonly #parts = new Map<string, ParquetPart>();
  #onComplete: (files: readonly UnnamedFile[]) => void = () => undefined;
  /** The last thing that was asked for: they are done one after another. */
  #last: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  /** Files are being completed, perhaps since an attempt that failed: they take no more spans. */
  #isCompleting = false;

  constructor(settings: ParquetSettings, onNote: (text: string) => void) {
    this.#settings = settings;
    this.#onNote = onNote;
    this.label = pathToFileURL(settings.directory).href;
    this.#directory = new ParquetDirectory(settings.directory);
    this.store = {
      begin: (unnamed, onComplete) => {
        this.#directory.name(unnamed);
        this.#directory.clean();
        this.#onComplete = onComplete;
      },
      flush: () => this.#inTurn(() => this.#complete()),
    };
  }

  async send(batch: ShipBatch): Promise<Outcome> {
    try {
      await this.#inTurn(() => this.#add(batch));
      return { kind: 'accepted' };
    } catch (error) {
      return { kind: 'retry', reason: (error as Error).message };
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#last;
    for (const part of this.#parts.values()) part.close();
    this.#directory.close();
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Adds all spans of a batch, or none. */
  async #add({ spans, producers, counters }: ShipBatch): Promise<void> {
    if (this.#isCompleting) await this.#complete();
    const parts = spans.map((span) => {
      const service = span.resource?.attributes['service.name'];
      return this.#partOf(span.start, typeof service === 'string' ? service : '');
    });
    await this.#makeRoom();
    for (let i = 0; i < spans.length; i++) parts[i]!.add(spans[i]!, producers[i]!, counters[i]!);
    this.#timer ??= this.#completeIn(this.#settings.mostMs);
    const { mostBytes } = this.#settings;
    const isFull = [...this.#parts.values()].some(({ bytes }) => bytes >= mostBytes);
    // What was accepted is noted first, so that it counts as stored.
    if (isFull || this.#parts.size > MOST_PARTS) {
      clearTimeout(this.#timer);
      this.#timer = this.#completeIn(0);
    }
  }

  /** Writes the largest parts until the memory is enough for a batch. */
  async #makeRoom(): Promise<void> {
    for (const part of this.#parts.values()) if (part.isFull) await part.write();
    let memory = 0;
    const parts = [...this.#parts.values()].map((part) => ({ part, size: part.memory }));
    for (const { size } of parts) memory += size;
    parts.sort((a, b) => b.size - a.size);
    for (const { part, size } of parts) {
      if (memory <= MOST_MEMORY) break;
      await part.write();
      memory -= size;
    }
  }

  #partOf(start: bigint, service: string): ParquetPart {
    const ms = timeOf(start);
    const key = `${Math.floor(ms / HOUR_MS)}\n${service}`;
    let part = this.#parts.get(key);
    if (part === undefined) {
      const [date, hour] = new Date(ms).toISOString().split(/[T:]/);
      const token = nameToken(service) || 'unknown_service';
      const directory = `date=${date!}/hour=${hour!}/service=${token}`;
      part = new ParquetPart(directory, this.#directory.unnamedPath());
      this.#parts.set(key, part);
    }
    return part;
  }

  #completeIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined;
      this.store.flush().catch((error: unknown) => {
        this.#onNote(`cannot complete a file: ${(error as Error).message}`);
        this.#timer ??= this.#completeIn(AGAIN_MS);
      });
    }, ms);
  }

  /** Completes all files. They get their names after the checkpoint says that they are complete. */
  async #complete(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const parts = [...this.#parts.values()];
    this.#isCompleting = parts.length > 0;
    for (const part of parts) await part.end();
    // Whoever waits for a batch hears first that it was accepted.
    await new Promise((resolve) => setImmediate(resolve));
    const files = parts.map((part) => ({
      from: basename(part.path),
      to: `${part.directory}/${part.name}`,
    }));
    this.#onComplete(files);
    this.#directory.name(files);
    for (const part of parts) part.close();
    this.#parts.clear();
    this.#isCompleting = false;
  }
}
