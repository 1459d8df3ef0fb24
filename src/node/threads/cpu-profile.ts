import { startProfile, stopProfile, takeProfile } from '../../core/native-calls.js';
import { claimNote, putNote } from '../../core/process-notes.js';
import { warn } from '../warning.js';
import { V8Profile } from './v8-profile.js';

/** A kill loses the samples since the last look. */
const LOOK_MS = 1000;

/**
 * Samples what the calling thread runs.
 *
 * @param record takes parts as `takeProfile` returns them, and the nanoseconds of a sample.
 * @returns undefined: V8 is of an unknown version.
 */
export function startCpuProfile(
  hz: number,
  ownScripts: string,
  record: (interval: number, parts: readonly (number | string)[]) => void,
): V8Profile | undefined {
  const us = Math.round(1e6 / hz);
  if (startProfile(us, ownScripts)) {
    const take = (all: boolean): void => {
      const parts = takeProfile(all);
      if (parts !== undefined && parts.length > 0) record(us * 1000, parts);
    };
    return new V8Profile(LOOK_MS, take, stopProfile);
  }
  const note = 'node.no-profile';
  if (claimNote(note)) {
    putNote(note, '1');
    warn(`no CPU profile is recorded: V8 ${process.versions.v8} is not known`);
  }
  return undefined;
}
