import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { entryOf } from '../core/map-entries.js';
import { TracewrightError } from '../core/errors.js';
import {
  isBoolean,
  isCount,
  isText,
  listOf,
  objectOf,
  optional,
} from '../core/files/untrusted-json.js';
import { readRegularFile } from '../core/files/regular-file.js';
import { statePath } from '../core/files/state-path.js';
import { hasCode, systemError, wrapSystemError } from '../core/files/system-error.js';
import { writeAll } from '../core/files/write-all.js';
import { BatchEnds } from './batch-ends.js';
import type { BatchEnd } from './batch-ends.js';
import { lockFile, syncDirectory } from './held-files.js';
import type { SpanPosition } from '../spans/read/span-follower.js';
import type { UnnamedFile } from './target.js';

const VERSION = 1;
const MOST_BYTES = 256 << 20;
/** Changes that are appended before the whole is written again, in bytes. */
const MOST_APPENDED = 1 << 20;
const PRIVATE_DIRECTORY = 0o700;
const PRIVATE_FILE = 0o600;

/** Of a target: by path, where the reading of a file goes on. */
type Positions = Map<string, SpanPosition>;

/** Where a checkpoint lies unless it is named: one for each set of paths and targets. */
export function defaultCheckpoint(paths: readonly string[], targets: readonly string[]): string {
  const key = [...paths.map((path) => resolve(path)), '', ...targets].join('\n');
  return statePath('ship', key);
}

/** Changes of a target since the line before. */
interface Change {
  target: string;
  /** By path; null: it is forgotten. */
  positions: Record<string, SpanPosition | null>;
  ends: Record<string, readonly BatchEnd[]>;
  unnamed?: readonly UnnamedFile[];
}

/**
 * How far each target is: a file with a line of everything, and lines of what has changed since. A file system may wait
 * for the disk when a file is replaced, and an acknowledgement must not. One process uses it at a time.
 */
export class Checkpoint {
  readonly path: string;
  readonly #lock: number;
  readonly #targets = new Map<string, Positions>();
  readonly #ends = new Map<string, BatchEnds>();
  readonly #unnamed = new Map<string, readonly UnnamedFile[]>();
  /** By target, the paths of which something has changed. */
  readonly #changed = new Map<string, Set<string>>();
  readonly #changedUnnamed = new Set<string>();
  /** The file, for further lines; undefined: it is to be written as a whole. */
  #file: number | undefined;
  #length = 0;
  #appended = 0;
  /** Whether what was written may not be on the disk. */
  #unsynced = false;

  /**
   * @throws TracewrightError `ERR_ORDER` when another process uses it, `ERR_SYSTEM` when it cannot be used,
   *   `ERR_ARGUMENT_TYPE` when the file is something else.
   */
  constructor(path: string) {
    this.path = resolve(path);
    const taken = `${path}: another process ships with this checkpoint; use another one, or end that process`;
    this.#lock = lockFile(`${this.path}.lock`, '--checkpoint', path, taken, PRIVATE_DIRECTORY);
    this.#read();
  }

  /** Where the files of a target go on. */
  positionsOf(target: string): ReadonlyMap<string, SpanPosition> {
    return this.#of(target);
  }

  /** Notes that a target has everything before some positions. */
  reach(target: string, positions: ReadonlyMap<string, SpanPosition>): void {
    const own = this.#of(target);
    for (const [path, position] of positions) {
      own.set(path, position);
      this.change(target, path);
    }
  }

  /** Where the batches ended that a target may have. Whoever changes them calls `change`. */
  endsOf(target: string): BatchEnds {
    return entryOf(this.#ends, target, () => new BatchEnds());
  }

  /** Files that a target has completed, and that may not have their names. */
  unnamedOf(target: string): readonly UnnamedFile[] {
    return this.#unnamed.get(target) ?? [];
  }

  setUnnamed(target: string, files: readonly UnnamedFile[]): void {
    this.#unnamed.set(target, files);
    this.#changedUnnamed.add(target);
  }

  change(target: string, path: string): void {
    const paths = this.#changed.get(target);
    if (paths === undefined) this.#changed.set(target, new Set([path]));
    else paths.add(path);
  }

  /** Forgets files that are gone. */
  forget(target: string, path: string): void {
    this.endsOf(target).forget(path);
    if (this.#of(target).delete(path)) this.change(target, path);
  }

  /** Writes what has changed, for the case that this process is killed. */
  saveSoon(): void {
    this.#write(false);
  }

  /** Writes what has changed; it is on the disk afterwards. */
  save(): void {
    this.#write(true);
  }

  #write(isSynced: boolean): void {
    const changes = this.#changes();
    if (changes === '' && !(isSynced && this.#unsynced)) return;
    wrapSystemError('--checkpoint', this.path, () => {
      try {
        if (this.#file === undefined || (isSynced && !this.#isInPlace(this.#file))) this.#replace();
        else this.#append(this.#file, changes, isSynced);
      } catch (error) {
        // Half a line would hide those after it.
        this.#closeFile();
        throw error;
      }
    });
    this.#changed.clear();
    this.#changedUnnamed.clear();
    this.#unsynced = this.#file !== undefined && !isSynced;
  }

  #changes(): string {
    let lines = '';
    for (const target of new Set([...this.#changed.keys(), ...this.#changedUnnamed])) {
      const change: Change = { target, positions: {}, ends: {} };
      for (const path of this.#changed.get(target) ?? []) {
        change.positions[path] = this.#of(target).get(path) ?? null;
        change.ends[path] = this.endsOf(target).of(path);
      }
      if (this.#changedUnnamed.has(target)) change.unnamed = this.unnamedOf(target);
      lines += `${JSON.stringify(change)}\n`;
    }
    return lines;
  }

  #append(file: number, changes: string, isSynced: boolean): void {
    const bytes = Buffer.from(changes);
    this.#length = writeAll(file, bytes, this.#length);
    if (isSynced) fsyncSync(file);
    this.#appended += bytes.length;
    if (isSynced && this.#appended > MOST_APPENDED) this.#closeFile();
  }

  /** Writes everything to a new file, which gets the name once it is on the disk. */
  #replace(): void {
    this.#closeFile();
    const targets = new Map<string, unknown>();
    for (const [label, files] of this.#targets) targets.set(label, Object.fromEntries(files));
    const text = JSON.stringify({
      version: VERSION,
      targets: Object.fromEntries(targets),
      ends: Object.fromEntries(this.#ends),
      unnamed: Object.fromEntries(this.#unnamed),
    });
    const fresh = `${this.path}.new`;
    const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
    this.#file = openSync(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, PRIVATE_FILE);
    this.#length = writeAll(this.#file, Buffer.from(`${text}\n`), 0);
    fsyncSync(this.#file);
    renameSync(fresh, this.path);
    syncDirectory(dirname(this.path));
  }

  #isInPlace(file: number): boolean {
    try {
      const [own, there] = [fstatSync(file), lstatSync(this.path)];
      return own.ino === there.ino && own.dev === there.dev;
    } catch {
      return false;
    }
  }

  #closeFile(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#appended = 0;
  }

  /** Gives the checkpoint to the next process. */
  close(): void {
    this.#closeFile();
    closeSync(this.#lock);
  }

  #of(target: string): Positions {
    return entryOf(this.#targets, target, () => new Map<string, SpanPosition>());
  }

  #read(): void {
    let text: string;
    try {
      text = readRegularFile(this.path, MOST_BYTES, 'refused').toString('utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return;
      closeSync(this.#lock);
      throw systemError('--checkpoint', this.path, error);
      return;
    }
    const [whole = '', ...changes] = text.split('\n');
    try {
      const { version, targets, ends, unnamed } = JSON.parse(whole) as {
        version: number;
        targets: unknown;
        ends?: object;
        unnamed?: object;
      };
      if (version !== VERSION) throw new SyntaxError(`version ${version}`);
      for (const [label, files] of Object.entries(targets as object)) this.#take(label, files);
      for (const [label, own] of Object.entries(ends ?? {})) this.endsOf(label).read(own);
      for (const [label, files] of Object.entries(unnamed ?? {})) this.#takeUnnamed(label, files);
    } catch (error) {
      closeSync(this.#lock);
      throw new TracewrightError(
        'ERR_ARGUMENT_TYPE',
        `${this.path} is no checkpoint of this version (${(error as Error).message}); use another file`,
        { field: '--checkpoint', value: this.path, limit: `version ${VERSION}` },
      );
    }
    for (const line of changes) {
      const change = changeOf(line);
      // What follows did not reach the disk.
      if (change === undefined) return;
      const { target, positions, ends, unnamed } = change;
      for (const path of Object.keys(positions)) {
        this.#of(target).delete(path);
        this.endsOf(target).forget(path);
      }
      this.#take(target, positions);
      this.endsOf(target).read(ends);
      this.#takeUnnamed(target, unnamed);
    }
  }

  #take(target: string, files: unknown): void {
    const own = this.#of(target);
    for (const [path, position] of Object.entries(files as object) as [string, unknown][]) {
      if (isPosition(position)) own.set(path, position);
    }
  }

  #takeUnnamed(target: string, files: unknown): void {
    if (Array.isArray(files)) this.#unnamed.set(target, files.filter(isUnnamed));
  }
}

const areCounts = listOf(isCount);

const isPosition = objectOf<SpanPosition>({
  identity: isText,
  offset: isCount,
  definitions: areCounts,
  clocks: areCounts,
  fromRings: listOf(listOf(isCount, 3)),
  completeAt: optional(isCount),
  isFaulty: optional(isBoolean),
});

const isUnnamed = objectOf<UnnamedFile>({ from: isText, to: isText });

const isChange = objectOf<Pick<Change, 'target' | 'positions'>>({
  target: isText,
  positions: objectOf({}),
});

function changeOf(line: string): Change | undefined {
  try {
    const change = JSON.parse(line) as unknown;
    return isChange(change) ? (change as Change) : undefined;
  } catch {
    return undefined;
  }
}
