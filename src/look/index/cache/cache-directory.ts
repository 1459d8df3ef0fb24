import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ColumnFile, DamagedIndex } from './column-file.js';

/** Bytes of a cache at most, unless set. The entries that were used last stay. */
export const CACHE_BYTES = 4 * 2 ** 30;
/** The file of an entry that names all others. */
export const INDEX_FILE = 'index';
/** An entry has a name of this form; nothing else in the directory is touched. */
const ENTRY = /^[0-9a-f]{32}$/;
const PRIVATE = 0o700;

/** Where indexes are kept unless a directory is given. */
export function defaultCache(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (process.platform === 'win32') {
    return join(LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'tracewright', 'cache');
  }
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'tracewright');
  return join(
    XDG_CACHE_HOME?.startsWith('/') === true ? XDG_CACHE_HOME : join(homedir(), '.cache'),
    'tracewright',
  );
}

/** Whether a directory is this user's alone. */
function isPrivate(directory: string): boolean {
  const stats = lstatSync(directory);
  if (!stats.isDirectory()) return false;
  if (process.getuid === undefined || process.platform === 'win32') return true;
  return stats.uid === process.getuid() && (stats.mode & 0o022) === 0;
}

/** A directory of indexes, one entry a trace, and of answers. */
export class CacheDirectory {
  readonly path: string;
  readonly #isTemporary: boolean;

  /**
   * @param path undefined: a directory of its own, which `close` removes. The same happens where the
   *   directory cannot be used, or is not this user's alone.
   */
  constructor(path: string | undefined) {
    let usable: string | undefined;
    try {
      if (path !== undefined) {
        mkdirSync(path, { recursive: true, mode: PRIVATE });
        if (isPrivate(path)) usable = resolve(path);
      }
    } catch {
      // A volume that is read-only, or no home: the index lasts as long as it is open.
    }
    this.#isTemporary = usable === undefined;
    this.path = usable ?? mkdtempSync(join(tmpdir(), 'tracewright-index-'));
  }

  /** The directory of the entry of a trace, or of what else is named; it need not be there. */
  pathOf(named: readonly string[]): string {
    const hash = createHash('sha256').update(named.join('\0'));
    return join(this.path, hash.digest('hex').slice(0, 32));
  }

  /** The same, and it is there afterwards. */
  entryOf(named: readonly string[]): string {
    const entry = this.pathOf(named);
    if (existsSync(entry) && !isPrivate(entry)) rmSync(entry, { recursive: true, force: true });
    mkdirSync(entry, { recursive: true, mode: PRIVATE });
    return entry;
  }

  /** An entry of no trace, for what a process needs while it runs. If it is left there, it is removed after a while. */
  newEntry(): string {
    const entry = join(this.path, randomBytes(16).toString('hex'));
    mkdirSync(entry, { recursive: true, mode: PRIVATE });
    return entry;
  }

  /** Removes entries of traces that are gone, and the oldest ones of too many. */
  prune(limit: number): void {
    if (this.#isTemporary) return;
    const entries = this.#entries().map((path) => ({ path, ...usageOf(path) }));
    entries.sort((a, b) => b.used - a.used);
    let bytes = 0;
    for (const entry of entries) {
      bytes += entry.bytes;
      if (bytes > limit || isOfNoTrace(entry.path)) {
        bytes -= entry.bytes;
        rmSync(entry.path, { recursive: true, force: true });
      }
    }
  }

  clear(): void {
    for (const entry of this.#entries()) rmSync(entry, { recursive: true, force: true });
  }

  close(): void {
    if (this.#isTemporary) rmSync(this.path, { recursive: true, force: true });
  }

  #entries(): string[] {
    return readdirSync(this.path)
      .filter((name) => ENTRY.test(name))
      .map((name) => join(this.path, name));
  }
}

/** A name for another file of an entry. */
export function newFileIn(entry: string, kind: string): string {
  return join(entry, `${kind}-${randomBytes(6).toString('hex')}`);
}

/** Puts a complete index file in the place of the one before, and removes what it does not name. */
export function replaceIndex(entry: string, written: string, keep: readonly string[]): void {
  renameSync(written, join(entry, INDEX_FILE));
  const kept = new Set([INDEX_FILE, ...keep]);
  for (const name of readdirSync(entry)) {
    if (!kept.has(name)) rmSync(join(entry, name), { recursive: true, force: true });
  }
}

/** Notes that an entry was used. */
export function touch(entry: string): void {
  const now = new Date();
  utimesSync(join(entry, INDEX_FILE), now, now);
}

function usageOf(entry: string): { bytes: number; used: number } {
  let bytes = 0;
  let used = 0;
  for (const name of readdirSync(entry)) {
    const stats = statSync(join(entry, name), { throwIfNoEntry: false });
    bytes += stats?.size ?? 0;
    if (name === INDEX_FILE) used = stats?.mtimeMs ?? 0;
  }
  return { bytes, used };
}

function isOfNoTrace(entry: string): boolean {
  try {
    const file = new ColumnFile(join(entry, INDEX_FILE));
    file.close();
    const { path } = file.facts as { path?: unknown };
    return typeof path !== 'string' || !existsSync(path);
  } catch (error) {
    if (!(error instanceof DamagedIndex)) throw error;
    // Another process may be building it.
    const begun = statSync(entry, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return Date.now() - begun > ABANDONED_MS;
  }
}

const ABANDONED_MS = 3600_000;
