import {
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { TracewrightError } from '../core/errors.js';
import { tryLock } from '../core/files/file-lock.js';
import { readRegularFile } from '../core/files/regular-file.js';
import { hasCode, wrapSystemError } from '../core/files/system-error.js';
import { BatchEnds } from './batch-ends.js';
import type { SpanPosition } from '../spans/read/span-follower.js';
import type { UnnamedFile } from './target.js';

const VERSION = 1;
const MOST_BYTES = 256 << 20;
/** Of a checkpoint that is written at each acknowledgement. */
const SMALL_BYTES = 64 << 10;
const PRIVATE_DIRECTORY = 0o700;
const PRIVATE_FILE = 0o600;

/** Of a target: by path, where the reading of a file goes on. */
type Positions = Map<string, SpanPosition>;

/** Where a checkpoint lies unless it is named: one for each set of paths and targets. */
export function defaultCheckpoint(paths: readonly string[], targets: readonly string[]): string {
  const { XDG_STATE_HOME } = process.env;
  const state =
    XDG_STATE_HOME?.startsWith('/') === true ? XDG_STATE_HOME : join(homedir(), '.local', 'state');
  const key = [...paths.map((path) => resolve(path)), '', ...targets].join('\n');
  const name = createHash('sha256').update(key).digest('hex').slice(0, 16);
  return join(state, 'tracewright', 'ship', `${name}.json`);
}

/**
 * What each target has: a file that is replaced as a whole, after it is on the disk. One process uses it at a time.
 */
export class Checkpoint {
  readonly path: string;
  readonly #lock: number;
  readonly #targets = new Map<string, Positions>();
  readonly #ends = new Map<string, BatchEnds>();
  readonly #unnamed = new Map<string, readonly UnnamedFile[]>();
  #changed = false;
  /** Whether what was written may not be on the disk. */
  #unsynced = false;
  #bytes = 0;

  /**
   * @throws TracewrightError `ERR_ORDER` when another process uses it, `ERR_SYSTEM` when it cannot be used,
   *   `ERR_ARGUMENT_TYPE` when the file is something else.
   */
  constructor(path: string) {
    this.path = resolve(path);
    const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
    this.#lock = wrapSystemError('--checkpoint', path, () => {
      mkdirSync(dirname(this.path), { recursive: true, mode: PRIVATE_DIRECTORY });
      return openSync(`${this.path}.lock`, O_RDWR | O_CREAT | O_NOFOLLOW, PRIVATE_FILE);
    });
    if (!tryLock(this.#lock)) {
      closeSync(this.#lock);
      throw new TracewrightError(
        'ERR_ORDER',
        `${path}: another process ships with this checkpoint; use another one, or end that process`,
        { field: '--checkpoint', value: path, limit: 'one process' },
      );
    }
    this.#read();
  }

  /** Where the files of a target go on. */
  positionsOf(target: string): ReadonlyMap<string, SpanPosition> {
    return this.#of(target);
  }

  /** Notes that a target has everything before some positions. */
  reach(target: string, positions: ReadonlyMap<string, SpanPosition>): void {
    const own = this.#of(target);
    for (const [path, position] of positions) own.set(path, position);
    this.#changed = true;
  }

  /** Where the batches ended that a target may have. Whoever changes them calls `change`. */
  endsOf(target: string): BatchEnds {
    let own = this.#ends.get(target);
    if (own === undefined) this.#ends.set(target, (own = new BatchEnds()));
    return own;
  }

  /** Files that a target has completed, and that may not have their names. */
  unnamedOf(target: string): readonly UnnamedFile[] {
    return this.#unnamed.get(target) ?? [];
  }

  setUnnamed(target: string, files: readonly UnnamedFile[]): void {
    this.#unnamed.set(target, files);
    this.#changed = true;
  }

  change(): void {
    this.#changed = true;
  }

  /** Forgets files that are gone. */
  forget(target: string, path: string): void {
    this.endsOf(target).forget(path);
    if (this.#of(target).delete(path)) this.#changed = true;
  }

  /**
   * Writes what has changed, for the case that this process is killed. A large checkpoint, of many files, waits for
   * `save`.
   */
  saveSoon(): void {
    if (this.#bytes <= SMALL_BYTES) this.#write(false);
  }

  /** Writes what has changed; it is on the disk afterwards. */
  save(): void {
    this.#write(true);
  }

  #write(isSynced: boolean): void {
    if (!this.#changed && !(isSynced && this.#unsynced)) return;
    const targets = new Map<string, unknown>();
    for (const [label, files] of this.#targets) targets.set(label, Object.fromEntries(files));
    const text = JSON.stringify({
      version: VERSION,
      targets: Object.fromEntries(targets),
      ends: Object.fromEntries(this.#ends),
      unnamed: Object.fromEntries(this.#unnamed),
    });
    wrapSystemError('--checkpoint', this.path, () => {
      const fresh = `${this.path}.new`;
      const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_RDONLY } = constants;
      const fd = openSync(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, PRIVATE_FILE);
      try {
        const bytes = Buffer.from(text);
        this.#bytes = bytes.length;
        for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
        if (isSynced) fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(fresh, this.path);
      if (!isSynced) return;
      const directory = openSync(dirname(this.path), O_RDONLY);
      try {
        fsyncSync(directory);
      } finally {
        closeSync(directory);
      }
    });
    this.#changed = false;
    this.#unsynced = !isSynced;
  }

  /** Gives the checkpoint to the next process. */
  close(): void {
    closeSync(this.#lock);
  }

  #of(target: string): Positions {
    let own = this.#targets.get(target);
    if (own === undefined) this.#targets.set(target, (own = new Map<string, SpanPosition>()));
    return own;
  }

  #read(): void {
    let text: string;
    try {
      text = readRegularFile(this.path, MOST_BYTES, 'refused').toString('utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return;
      closeSync(this.#lock);
      wrapSystemError('--checkpoint', this.path, () => {
        throw error;
      });
      return;
    }
    try {
      const { version, targets, ends, unnamed } = JSON.parse(text) as {
        version: number;
        targets: unknown;
        ends?: object;
        unnamed?: object;
      };
      if (version !== VERSION) throw new SyntaxError(`version ${version}`);
      for (const [label, files] of Object.entries(targets as object)) {
        const positions = Object.entries(files as object) as [string, unknown][];
        const own = this.#of(label);
        for (const [path, position] of positions) if (isPosition(position)) own.set(path, position);
      }
      for (const [label, own] of Object.entries(ends ?? {})) this.endsOf(label).read(own);
      for (const [label, files] of Object.entries(unnamed ?? {})) {
        if (Array.isArray(files)) this.#unnamed.set(label, files.filter(isUnnamed));
      }
    } catch (error) {
      closeSync(this.#lock);
      throw new TracewrightError(
        'ERR_ARGUMENT_TYPE',
        `${this.path} is no checkpoint of this version (${(error as Error).message}); use another file`,
        { field: '--checkpoint', value: this.path, limit: `version ${VERSION}` },
      );
    }
  }
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
const areCounts = (value: unknown): boolean => Array.isArray(value) && value.every(isCount);

function isPosition(value: unknown): value is SpanPosition {
  if (typeof value !== 'object' || value === null) return false;
  const { identity, offset, definitions, clocks, fromRings, completeAt } = value as SpanPosition;
  return (
    typeof identity === 'string' &&
    isCount(offset) &&
    areCounts(definitions) &&
    areCounts(clocks) &&
    Array.isArray(fromRings) &&
    fromRings.every((run: unknown) => areCounts(run) && (run as unknown[]).length === 3) &&
    (completeAt === undefined || isCount(completeAt))
  );
}

function isUnnamed(value: unknown): value is UnnamedFile {
  const { from, to } = (value ?? {}) as Partial<UnnamedFile>;
  return typeof from === 'string' && typeof to === 'string';
}
