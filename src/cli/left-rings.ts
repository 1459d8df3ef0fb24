import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { TracewrightError } from '../core/errors.js';
import type { Finding } from '../core/finding.js';
import { filesBelow } from '../core/recovery/recover-rings.js';
import { RingFile } from '../core/recovery/ring-file.js';
import { tell } from './tell.js';

/** A file that a ring in its directory feeds; it may not be there itself. */
export interface RingedFile {
  path: string;
  /** The format's word for itself; undefined of a ring whose process died before it was ready. */
  format: string | undefined;
}

/** The format's word for itself; undefined of a ring that is not ready. */
function readFormat(ringPath: string): string | undefined {
  const ring = RingFile.open(ringPath);
  if (!(ring instanceof RingFile)) return undefined;
  ring.close();
  return ring.format;
}

/** What is wrong with a ring is said when the trace is recovered. */
function passOver(error: unknown): void {
  if (!(error instanceof TracewrightError)) throw error;
}

/** The format's word for itself; undefined where there is no ring, or none that can tell. */
export function formatOfRing(path: string): string | undefined {
  try {
    return readFormat(path);
  } catch (error) {
    passOver(error);
    return undefined;
  }
}

/**
 * The files of a directory that the rings in it feed.
 *
 * @param fileOfRing the file that a ring next to it feeds; undefined for the name of anything else.
 */
export function ringedFiles(
  directory: string,
  fileOfRing: (ring: string) => string | undefined,
): RingedFile[] {
  const files = new Map<string, RingedFile>();
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const ring = join(directory, entry.name);
    const path = fileOfRing(ring);
    if (path === undefined || !entry.isFile()) continue;
    try {
      files.set(path, { path, format: readFormat(ring) });
    } catch (error) {
      passOver(error);
    }
  }
  return [...files.values()];
}

/** The rings that lie in or beside a trace: its process runs, or has been killed. */
function* leftRings(path: string): Generator<string, void> {
  if (statSync(path).isDirectory()) {
    yield* filesBelow(path, (name) => name.startsWith('.') && name.endsWith('.ring'));
    return;
  }
  const directory = dirname(path);
  for (const name of readdirSync(directory)) {
    if (name.startsWith(`.${basename(path)}.`) && name.endsWith('.ring')) {
      yield join(directory, name);
    }
  }
}

/** A warning for every ring that holds, or may hold, a part of the trace. */
export function* ringFindings(path: string): Generator<Finding, void> {
  for (const ring of leftRings(path)) {
    yield {
      severity: 'warning',
      rule: 'ring-left',
      message:
        'a part of the trace may still be in this ring: its process runs, or was killed and `tracewright recover` completes the trace',
      path: ring,
    };
  }
}

/** Tells a reader who may not see all of a trace: its process runs, or nobody has recovered it. */
export function warnOfRings(command: string, path: string): void {
  if (leftRings(path).next().done === true) return;
  tell(
    `tracewright ${command}: a part of ${path} may still be in its rings: its process runs, or was killed and \`tracewright recover ${path}\` completes it`,
  );
}
