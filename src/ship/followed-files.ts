import { lstatSync, readdirSync, watch } from 'node:fs';
import type { Dirent, FSWatcher, Stats } from 'node:fs';
import { join, resolve } from 'node:path';
import { hasCode } from '../core/files/system-error.js';
import type { TracewrightError } from '../core/errors.js';
import { faultOf } from './fault-of.js';
import { spanFiles } from '../spans/read/span-files.js';
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
  /** How often it could not be read, one time after the other. */
  failures: number;
}

interface FollowedFilesOptions {
  ringDirs: readonly string[];
  /** Users whose files are read; undefined: those of all. */
  owners: ReadonlySet<number> | undefined;
  newestFirst: boolean;
  onFault: (fault: TracewrightError) => void;
  onReleased?: FollowOptions['onReleased'];
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
  }

  get all(): Iterable<FollowedFile> {
    return this.#files.values();
  }

  /** Whether all of them are complete: no living process writes to one. */
  get areComplete(): boolean {
    return [...this.#files.values()].every(({ follower }) => follower.completeAt !== undefined);
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
    this.#files.delete(path);
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
      this.#files.delete(file.path);
      this.gone.push(file);
      return false;
    }
    file.mtimeMs = stats.mtimeMs;
    file.seenSize = stats.size;
    const isSame = stats.ino === file.inode;
    file.inode = stats.ino;
    if (isOver && isSame && file.follower.completeAt === stats.size) return false;
    return !isKnown || !isSame || stats.size !== file.size || now - file.readAt >= LIVING_MS;
  }

  #search(now: number): void {
    this.#searchAt = now + (this.#isWatching ? SEARCH_MS : SEARCH_WITHOUT_MS);
    this.#searchedAt = now;
    for (const root of this.#paths) {
      try {
        const { path, directory } = this.#trusted.name(root);
        this.#watchBelow(directory);
        for (const file of spanFiles(path, this.#options.onFault)) {
          this.#changed.add(file);
          if (!this.#files.has(file)) this.#add(file);
        }
      } catch (error) {
        // It may come later.
        if (!hasCode(error, 'ENOENT')) this.#options.onFault(faultOf(root, error));
      }
    }
  }

  #add(path: string): void {
    const stats = this.#statsOf(path);
    if (stats === undefined) return;
    const { ringDirs, onFault, onReleased, onNote } = this.#options;
    if (!this.#trusted.isOwner(stats.uid)) {
      if (this.#foreign.has(path)) return;
      this.#foreign.add(path);
      onNote(`${path} belongs to user ${stats.uid}: it is left out. --owner ${stats.uid} reads it`);
      return;
    }
    const following = { ringDirs, onFault, onReleased, links: this.#trusted.check };
    const follower = new SpanFollower(path, following, this.#positions.get(path));
    const { mtimeMs, ino: inode, size: seenSize } = stats;
    const unread = { size: -1, readAt: -Infinity, failures: 0 };
    this.#files.set(path, { path, follower, mtimeMs, inode, seenSize, ...unread });
  }

  #statsOf(path: string): Stats | undefined {
    try {
      const stats = lstatSync(path);
      return stats.isFile() ? stats : undefined;
    } catch {
      return undefined;
    }
  }

  /** Watches a directory and those below it: a trace may begin in any. */
  #watchBelow(directory: string): void {
    if (!this.#isWatching) return;
    if (!this.#watchers.has(directory)) {
      if (this.#watchers.size >= MOST_WATCHED) return;
      this.#watch(directory);
    }
    let entries: Dirent[] = [];
    try {
      entries = readdirSync(directory, { withFileTypes: true });
    } catch {
      // It is gone, or may not be read: the search says so.
    }
    for (const entry of entries) {
      if (entry.isDirectory()) this.#watchBelow(join(directory, entry.name));
    }
  }

  #watch(directory: string): void {
    try {
      const watcher = watch(directory, { persistent: false }, (event, name) => {
        const path = name === null ? undefined : resolve(directory, name);
        if (path !== undefined && this.#files.has(path)) this.#changed.add(path);
        else if (event === 'rename') this.#searchAt = this.#searchedAt + SEARCH_AFTER_MS;
        else return;
        if (this.#isNotified) this.wake();
      });
      watcher.on('error', () => {
        this.#watchers.delete(directory);
        watcher.close();
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
}

function retryMs(failures: number): number {
  return Math.min(MOST_FAILED_MS, LIVING_MS * 2 ** failures);
}
