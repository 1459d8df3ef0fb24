import { readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { TracewrightError } from '../core/errors.js';
import { identityOf, isSameFile } from '../core/files/file-identity.js';
import { RingFile } from '../core/recovery/ring-file.js';
import { ringsIn } from '../core/recovery/ring-search.js';

/** A ring in a directory where a live process has one. */
interface MappedRing {
  ring: string;
  /** The file that it feeds. */
  file: string;
}

/** A ring gets its name once it is ready, so its mapping has none: `/dev/shm/#4711 (deleted)`. */
const MAPPING = / rw-s .* (\/.*)\/(?:#\d+ \(deleted\)|[^/]*\.ring)$/gm;

/** The directories of rings that a process may have mapped; none if it is gone, or another user's. */
function directoriesOf(pid: string): string[] {
  try {
    const maps = readFileSync(`/proc/${pid}/maps`, 'utf8');
    return [...maps.matchAll(MAPPING)].map(([, directory]) => directory!);
  } catch {
    return [];
  }
}

function ringsAt(directory: string): string[] {
  try {
    return [...ringsIn(directory)];
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    return [];
  }
}

function fileFedBy(ring: string): string | undefined {
  try {
    const opened = RingFile.open(ring, undefined, 'look');
    if (!(opened instanceof RingFile)) return undefined;
    opened.close();
    const { target, targetFile } = opened;
    const noted = { inode: String(targetFile.inode), born: String(targetFile.born) };
    return targetFile.inode !== 0n && isSameFile(identityOf(target), noted) ? target : undefined;
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    return undefined;
  }
}

function* findMappedRings(): Generator<MappedRing> {
  let pids: string[];
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return;
  }
  const directories = new Set(pids.flatMap(directoriesOf));
  for (const ring of [...directories].flatMap(ringsAt)) {
    const file = fileFedBy(ring);
    if (file !== undefined) yield { ring, file: resolve(file) };
  }
}

/**
 * The rings where this system's live processes have theirs: `ringDir` can have put them anywhere. Other
 * systems than Linux do not show them.
 */
export class MappedRings {
  #all: readonly MappedRing[] | undefined;

  /** The directories of those that feed a trace. */
  directoriesOf(path: string): readonly string[] {
    return [...new Set(this.of(path).map(({ ring }) => dirname(ring)))];
  }

  /** Those that feed a trace: a file, or what lies below a directory. */
  of(path: string): readonly MappedRing[] {
    this.#all ??= [...findMappedRings()];
    const trace = resolve(path);
    return this.#all.filter(({ file }) => file === trace || file.startsWith(trace + sep));
  }
}
