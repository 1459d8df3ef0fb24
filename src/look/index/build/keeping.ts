import type { CacheDirectory } from '../cache/cache-directory.js';
import type { BuildProgress } from './build-source.js';

/** Where the index of a trace is kept. */
export interface Keeping {
  leastCachedBytes: number;
  /** Further directories with rings. */
  ringDirs: readonly string[];
  directory(): CacheDirectory;
  /** A directory for this process alone, which is removed when the index is closed. */
  liveDirectory(): string;
  onProgress: BuildProgress | undefined;
}
