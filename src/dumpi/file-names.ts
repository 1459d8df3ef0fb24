import { basename, dirname, join } from 'node:path';

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

/**
 * Begin of the names of a run's files: the root, and when rank 0 started in local time, as
 * `dumpi-2026.11.21.00.17.10`.
 */
export function filePrefix(fileRoot: string, start: Date): string {
  const day = [start.getMonth() + 1, start.getDate()];
  const time = [start.getHours(), start.getMinutes(), start.getSeconds()];
  const rest = [...day, ...time].map((part) => padded(part, 2)).join('.');
  return `${fileRoot}-${padded(start.getFullYear(), 4)}.${rest}`;
}

/** Hidden files next to a rank's file until it is complete. */
export interface SideFiles {
  /** Sections for the end of the file, kept current: JSON. */
  sections: string;
  /** The same while it is being replaced. */
  newSections: string;
  /** Names of functions and annotations, as the file's last section will hold them. */
  names: string;
}

/** Names the hidden files next to a rank's file. */
export function sideFiles(file: string): SideFiles {
  const name = `.${basename(file)}`;
  const hidden = join(dirname(file), name);
  return {
    sections: `${hidden}.json`,
    newSections: join(dirname(file), `.${name}.json.new`),
    names: `${hidden}.names`,
  };
}

/** The rank's file next to which such a file of sections lies, or undefined for another name. */
export function fileOfSections(path: string): string | undefined {
  const match = /^\.(.+\.bin)\.json$/.exec(basename(path));
  return match === null ? undefined : join(dirname(path), match[1]!);
}

/** Format of a ring of calls. */
export const CALLS_FORMAT = 'dumpi';

/** Rings of a rank: of its calls, and of the names. */
interface RankRings {
  calls: string;
  names: string;
}

/** @param tag keeps apart the rings of several traces in a directory of their own. */
export function rankRings(file: string, ringDir: string | undefined, tag: string): RankRings {
  const hidden =
    ringDir === undefined
      ? join(dirname(file), `.${basename(file)}`)
      : join(ringDir, `.${basename(file)}.${tag}`);
  return { calls: `${hidden}.ring`, names: `${hidden}.names.ring` };
}

/** The ring of the names that belongs to a ring of calls. */
export function namesRingOf(callsRing: string): string {
  return `${callsRing.slice(0, -'.ring'.length)}.names.ring`;
}

/** The rank's file that a ring next to it feeds, or undefined when the name is not that of a ring of calls. */
export function fileOfRing(ring: string): string | undefined {
  const match = /^\.(.+\.bin)\.ring$/.exec(basename(ring));
  return match === null ? undefined : join(dirname(ring), match[1]!);
}

/** Whether this is the name of a rank's ring, of its calls or of the names. */
export function isRing(path: string): boolean {
  return /^\..+\.bin\.(?:names\.)?ring$/.test(basename(path));
}
