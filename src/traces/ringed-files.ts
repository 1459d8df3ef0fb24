import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { TracewrightError } from '../core/errors.js';
import { RingFile } from '../core/recovery/ring-file.js';
import type { TraceFormat } from './trace-format.js';

/** What a ring says of its format; undefined while it is not ready. */
function formatOf(ringPath: string): string | undefined {
  const ring = RingFile.open(ringPath);
  if (!(ring instanceof RingFile)) return undefined;
  ring.close();
  return ring.format;
}

/** What a ring says of its format; undefined if there is no ring, or none that can be read. */
export function ringFormatAt(ringPath: string): string | undefined {
  try {
    return formatOf(ringPath);
  } catch (error) {
    ignoreUnreadable(error);
    return undefined;
  }
}

/** Recovery reports what is wrong with a ring. */
function ignoreUnreadable(error: unknown): void {
  if (!(error instanceof TracewrightError)) throw error;
}

/** A ring, and the format whose trace it feeds. */
interface OwnedRing {
  path: string;
  owner: TraceFormat | undefined;
}

function* ringsIn(directory: string, formats: readonly TraceFormat[]): Generator<OwnedRing, void> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ring')) continue;
    const path = join(directory, entry.name);
    try {
      const word = formatOf(path);
      const owner = formats.find(({ rings }) =>
        word === undefined ? rings.isRing(path) : rings.isFormat(word),
      );
      yield { path, owner };
    } catch (error) {
      ignoreUnreadable(error);
    }
  }
}

/**
 * The files that the rings in a directory feed, by format. The files may not exist.
 *
 * @param formats all there are: each must be able to claim its rings.
 */
export function ringedFiles(
  directory: string,
  formats: readonly TraceFormat[],
): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, Set<string>>(formats.map(({ name }) => [name, new Set()]));
  for (const { path, owner } of ringsIn(directory, formats)) {
    const file = owner?.rings.fileOf(path);
    if (file !== undefined) files.get(owner!.name)!.add(file);
  }
  return new Map([...files].map(([name, paths]) => [name, [...paths].sort()]));
}
