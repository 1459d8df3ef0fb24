import { startHeapProfile, stopHeapProfile, takeHeapProfile } from '../../core/native-calls.js';
import { warn } from '../warning.js';
import { V8Profile } from './v8-profile.js';

/** Bytes: V8's own default. */
const INTERVAL = 512 * 1024;
/** A kill loses what was allocated since the last look. */
const LOOK_MS = 10_000;

/**
 * Samples what the calling thread allocates.
 *
 * @param record takes what is alive, as `takeHeapProfile` returns it.
 * @returns undefined: V8 is of an unknown version, or the program has started this profiler.
 */
export function startAllocationProfile(
  ownScripts: string,
  record: (sizes: readonly (number | string)[]) => void,
): V8Profile | undefined {
  if (startHeapProfile(INTERVAL, ownScripts)) {
    const take = (): void => {
      const sizes = takeHeapProfile();
      if (sizes !== undefined) record(sizes);
    };
    return new V8Profile(LOOK_MS, take, stopHeapProfile);
  }
  warn(`no allocations are recorded: V8 ${process.versions.v8} is not known, or samples already`);
  return undefined;
}
