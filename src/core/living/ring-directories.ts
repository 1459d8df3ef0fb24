import type { Stats } from 'node:fs';
import { TraceFormatError } from '../errors.js';
import { kindOf } from '../files/file-kind.js';
import { ringsIn } from '../recovery/ring-search.js';
import { LivingRing } from './living-ring.js';

/** Directories with nothing but rings, each read once. */
export class RingDirectories {
  readonly #paths: readonly string[];
  #byFile: ReadonlyMap<bigint, string[]> | undefined;

  constructor(paths: readonly string[] = []) {
    this.#paths = paths;
  }

  /** The rings that have noted a file. */
  ofFile({ ino }: Stats): string[] {
    this.#byFile ??= this.#read();
    return [...(this.#byFile.get(BigInt(ino)) ?? [])];
  }

  #read(): Map<bigint, string[]> {
    const byFile = new Map<bigint, string[]>();
    for (const path of this.#paths.flatMap((directory) => [...ringsIn(directory)])) {
      const inode = fileFedBy(path);
      if (inode === undefined) continue;
      byFile.set(inode, [...(byFile.get(inode) ?? []), path]);
    }
    return byFile;
  }
}

/** The number of the file that a ring has noted. */
function fileFedBy(path: string): bigint | undefined {
  const status = kindOf(path);
  let ring: LivingRing | undefined;
  try {
    ring = status && LivingRing.open(path, status);
    return ring?.sample().targetFile.inode;
  } catch (error) {
    // It is reported where a name says that it belongs to the trace.
    if (error instanceof TraceFormatError) return undefined;
    throw error;
  } finally {
    ring?.close();
  }
}
