import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { TracewrightError } from '../core/errors.js';
import { RingFile } from '../core/recovery/ring-file.js';
import type { TraceFormat } from '../rows/trace-format.js';

/** The format whose trace a ring feeds, and the file; undefined if the ring is not believed. */
function fedBy(path: string, formats: readonly TraceFormat[]): FedFile | undefined {
  const ring = RingFile.open(path, undefined, 'look');
  const isReady = ring instanceof RingFile;
  if (isReady) ring.close();
  const format = formats.find(({ rings }) =>
    isReady ? rings.isFormat(ring.format) : rings.isRing(path),
  );
  const file = format?.rings.fileOf(path);
  if (file === undefined || (isReady && ring.doubt(file) !== undefined)) return undefined;
  return { format: format!, file };
}

interface FedFile {
  format: TraceFormat;
  file: string;
}

function* filesFedIn(directory: string, formats: readonly TraceFormat[]): Generator<FedFile, void> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ring')) continue;
    try {
      const fed = fedBy(join(directory, entry.name), formats);
      if (fed !== undefined) yield fed;
    } catch (error) {
      // Recovery reports what is wrong with a ring.
      if (!(error instanceof TracewrightError)) throw error;
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
  for (const { format, file } of filesFedIn(directory, formats)) {
    files.get(format.name)!.add(file);
  }
  return new Map([...files].map(([name, paths]) => [name, [...paths].sort()]));
}
