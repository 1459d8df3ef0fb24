import { lstatSync, watch } from 'node:fs';
import type { FSWatcher, Stats } from 'node:fs';
import { basename, resolve } from 'node:path';
import { hasCode } from '../core/files/system-error.js';
import type { TracewrightError } from '../core/errors.js';
import { faultOf } from './errors.js';
import { filesAt } from '../spans/read/span-files.js';
import { SpanFollower } from '../spans/read/span-follower.js';
import type { FollowOptions, SpanPosition } from '../spans/read/span-follower.js';
import { TrustedFiles } from './trusted-files.js';

/** All directories are searched again after this time, whatever the notifications say, in milliseconds. */
const SEARCH_MS = 10_000;
/** And so long after the last search, if a directory has a new entry. */
const SEARCH_AFTER_MS = 200;
/** Directories that are watched at most. */
const MOST_WATCHED = 5000;
/** The same without notifications. */
const SEARCH_WITHOUT_MS = 1000;
/** After looking at files, nobody looks again for so long: each look reads the pages of rings, too. In milliseconds. */
const REST_MS = 250;
/** A file whose process lives is looked at after this time: nothing notifies of a process that dies. */
const LIVING_MS = 1000;
/** A file that cannot be read is tried again after twice the time, and at last after this time, in milliseconds. */
const MOST_FAILED_MS = 300_000;

export interface FollowedFile {
  readonly path: string;
  readonly follower: SpanFollower;
  /** Bytes when it was read last; -1: it was not. */
  size: number;
  /** Bytes when it was seen last. */
  seenSize: number;
  /** Of `performance.now`. */
  readAt: number;
  mtimeMs: number;
  /** Another file of the same size may get the name. */
  inode: number;
  /** A file that is deleted leaves its inode to another one. */
  bornMs: number;
  /** How often it could not be read, one time after the other. */
  failures: number;
}

interface FollowedFilesOptions {
  ringDirs: readonly string[];
  /** Users whose files are read; undefined: those of all. */
  owners: ReadonlySet<number> | undefined;
  newestFirst: boolean;
  onFault: (fault: TracewrightError) => void;
  onRecord?: FollowOptions['onRecord'];
  /** Says something once. */
  onNote: (text: string) => void;
}

/** The Heph files below some paths, also those that come later, and which of them may have new spans. */
export class FollowedFiles {
  readonly #paths: readonly string[];
  readonly #options: FollowedFilesOptions;
  readonly #positions: ReadonlyMap<string, SpanPosition>;
  readonly #files = new Map<string, FollowedFile>();
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #foreign = new Set<string>();
  readonly #missing = new Set<FollowedFile>();
  readonly #byInode = new Map<number, FollowedFile>();
  /** How far an earlier process has read, by device, inode and name of the file. */
  readonly #earlier = new Map<string, { path: string; position: SpanPosition }>();
  readonly #trusted: TrustedFiles;
  #isWatching = true;
  #searchAt = 0;
  #searchedAt = 0;
  #changed = new Set<string>();
  #wake: (() => void) | undefined;
  /** Whether a notification ends the wait. */
  #isNotified = false;
  #lookedAt = -Infinity;
  /** Files that are gone. */
  readonly gone: FollowedFile[] = [];

  /** @param positions of an earlier process. */
  constructor(
    paths: readonly string[],
    positions: ReadonlyMap<string, SpanPosition>,
    options: FollowedFilesOptions,
  ) {
    this.#paths = paths.map((path) => resolve(path));
    this.#positions = positions;
    this.#options = options;
    this.#trusted = new TrustedFiles(options.owners);
    for (const [path, position] of positions) {
      const [dev, ino] = position.identity.split(':');
      this.#earlier.set(`${dev}:${ino}:${basename(path)}`, { path, position });
    }
  }

  get all(): Iterable<FollowedFile> {
    return this.#files.values();
  }

  /** Whether all of them are complete, or cannot be read: no living process writes to one. */
  get areComplete(): boolean {
    return [...this.#files.values()].every(
      ({ follower, failures }) => follower.completeAt !== undefined || failures > 0,
    );
  }

  /** Whether a living process writes to one of them now. */
  get isGrowing(): boolean {
    for (const { follower } of this.#files.values()) {
      if (follower.completeAt === undefined && follower.isGrowing) return true;
    }
    return false;
  }

  /** Whether the reading of a file was interrupted, so that others have their turn. */
  get hasUnread(): boolean {
    for (const { size, readAt } of this.#files.values()) {
      if (size === -1 && readAt !== -Infinity) return true;
    }
    return false;
  }

  /** The files that may have new spans, in the order in which to read them. */
  due(): FollowedFile[] {
    const now = performance.now();
    this.#lookedAt = now;
    if (now >= this.#searchAt) this.#search(now);
    const changed = this.#changed;
    this.#changed = new Set();
    const due = [...this.#files.values()].filter((file) => this.#isDue(file, changed, now));
    if (this.#missing.size > 0) this.#findMissing(now);
    if (this.#options.newestFirst) due.sort((a, b) => b.mtimeMs - a.mtimeMs);
    return due;
  }

  /** Waits until a file may have changed, at most some time. */
  async changed(mostMs: number): Promise<void> {
    if (this.hasUnread) return;
    await this.#wait(this.#lookedAt + REST_MS - performance.now());
    if (this.#changed.size > 0) return;
    this.#isNotified = true;
    await this.#wait(Math.min(mostMs, this.#searchAt - performance.now()));
    this.#isNotified = false;
  }

  /** Ends a wait. */
  wake(): void {
    this.#wake?.();
  }

  async #wait(ms: number): Promise<void> {
    if (ms <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  /** Deletes a file, and follows it no longer. @throws TracewrightError if a link leads to it now. */
  delete(path: string): void {
    this.#trusted.delete(path);
    const file = this.#files.get(path);
    if (file !== undefined) this.#remove(file);
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.wake();
  }

  #isDue(file: FollowedFile, changed: ReadonlySet<string>, now: number): boolean {
    const isOver = file.follower.completeAt !== undefined;
    const isKnown = file.size !== -1;
    // What cannot be read takes no time from the others, however often it changes.
    if (file.failures > 0 && now - file.readAt < retryMs(file.failures)) return false;
    if (isKnown && !changed.has(file.path)) {
      // What is complete changes only by a recovery, which notifies, or is seen by the next search.
      if (isOver || (this.#isWatching && now - file.readAt < LIVING_MS)) return false;
    }
    const stats = this.#statsOf(file.path);
    if (stats === undefined) {
      this.#missing.add(file);
      return false;
    }
    const isSame = stats.ino === file.inode;
    const isUntouched = stats.mtimeMs === file.mtimeMs;
    file.mtimeMs = stats.mtimeMs;
    file.seenSize = stats.size;
    if (!isSame) {
      file.inode = stats.ino;
      file.bornMs = stats.birthtimeMs;
      this.#byInode.set(stats.ino, file);
    }
    // Of an earlier process, the file may be another one by now.
    if (!isKnown) return true;
    if (isOver) return !isSame || !isUntouched || file.follower.completeAt !== stats.size;
    return !isSame || stats.size !== file.size || now - file.readAt >= LIVING_MS;
  }

  /** Files that are not where they were: they are elsewhere below the paths, or gone. */
  #findMissing(now: number): void {
    this.#search(now);
    for (const file of this.#missing) {
      if (this.#files.get(file.path) !== file) continue;
      this.#remove(file);
      this.gone.push(file);
    }
    this.#missing.clear();
  }

  #search(now: number): void {
    this.#searchAt = now + (this.#isWatching ? SEARCH_MS : SEARCH_WITHOUT_MS);
    this.#searchedAt = now;
    const directories = new Set<string>();
    const watchOnce = (directory: string): void => {
      directories.add(directory);
      this.#watch(directory);
    };
    for (const root of this.#paths) {
      try {
        const { path, directory } = this.#trusted.name(root);
        watchOnce(directory);
        for (const file of filesAt(path, this.#options.onFault, watchOnce)) {
          this.#changed.add(file);
          if (!this.#files.has(file)) this.#add(file);
        }
      } catch (error) {
        // It may come later.
        if (!hasCode(error, 'ENOENT')) this.#options.onFault(faultOf(root, error));
      }
    }
    // Directories that are gone: their watchers are few.
    for (const path of this.#watchers.keys()) if (!directories.has(path)) this.#unwatch(path);
  }

  #add(path: string): void {
    const stats = this.#statsOf(path);
    if (stats === undefined) return;
    const { ringDirs, onFault, onRecord, onNote } = this.#options;
    if (!this.#trusted.isOwner(stats.uid)) {
      if (this.#foreign.has(path)) return;
      this.#foreign.add(path);
      onNote(`${path} belongs to user ${stats.uid}: it is left out. --owner ${stats.uid} reads it`);
      return;
    }
    const following = { ringDirs, onFault, onRecord, links: this.#trusted.check };
    const follower = new SpanFollower(path, following, this.#positionOf(path, stats));
    const { mtimeMs, ino: inode, birthtimeMs: bornMs, size: seenSize } = stats;
    const unread = { size: -1, readAt: -Infinity, failures: 0 };
    const file = { path, follower, mtimeMs, inode, bornMs, seenSize, ...unread };
    this.#files.set(path, file);
    this.#byInode.set(inode, file);
  }

  /** Where the reading of a file goes on, which may have had another path: a directory above it was renamed. */
  #positionOf(path: string, { dev, ino, birthtimeMs }: Stats): SpanPosition | undefined {
    const name = basename(path);
    const isElsewhere = (other: string): boolean => this.#statsOf(other)?.ino !== ino;
    const known = this.#byInode.get(ino);
    if (known?.bornMs === birthtimeMs && basename(known.path) === name && isElsewhere(known.path)) {
      this.#remove(known);
      return known.follower.position;
    }
    const found = this.#positions.get(path);
    const earlier = this.#earlier.get(`${dev}:${ino}:${name}`);
    if (earlier === undefined || !isElsewhere(earlier.path)) return found;
    return earlier.position.offset > (found?.offset ?? -1) ? earlier.position : found;
  }

  #remove(file: FollowedFile): void {
    if (this.#files.get(file.path) === file) this.#files.delete(file.path);
    if (this.#byInode.get(file.inode) === file) this.#byInode.delete(file.inode);
  }

  #statsOf(path: string): Stats | undefined {
    try {
      const stats = lstatSync(path);
      return stats.isFile() ? stats : undefined;
    } catch {
      return undefined;
    }
  }

  /** Watches a directory: a trace may begin in any. */
  #watch(directory: string): void {
    if (!this.#isWatching || this.#watchers.has(directory)) return;
    if (this.#watchers.size >= MOST_WATCHED) return;
    try {
      const watcher = watch(directory, { persistent: false }, (event, name) => {
        const path = name === null ? undefined : resolve(directory, name);
        if (path !== undefined && this.#files.has(path)) this.#changed.add(path);
        else if (event === 'rename') {
          this.#searchAt = this.#searchedAt + SEARCH_AFTER_MS;
          // Of the directory itself: another one may get its name.
          if (name === basename(directory)) this.#unwatch(directory);
        } else return;
        if (this.#isNotified) this.wake();
      });
      watcher.on('error', () => {
        this.#unwatch(directory);
      });
      this.#watchers.set(directory, watcher);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return;
      this.#isWatching = false;
      for (const watcher of this.#watchers.values()) watcher.close();
      this.#watchers.clear();
      const { message } = error as Error;
      this.#options.onNote(
        `directories cannot be watched (${message}): they are searched once a second`,
      );
    }
  }

  #unwatch(directory: string): void {
    this.#watchers.get(directory)?.close();
    this.#watchers.delete(directory);
  }
}

function retryMs(failures: number): number {
  return Math.min(MOST_FAILED_MS, LIVING_MS * 2 ** failures);
}
