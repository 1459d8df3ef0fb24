import { constants } from 'node:os';
import { identityOf } from '../../core/files/file-identity.js';
import { wrapSystemError } from '../../core/files/system-error.js';
import { recordsNothing } from '../../core/off.js';
import { ownIdentity } from '../../core/recovery/process-identity.js';
import type { Ring } from '../../core/ring/ring.js';
import { DatatypeSizes } from '../datatype-sizes.js';
import { sideFiles } from '../file-names.js';
import { keepSections } from '../kept-sections.js';
import type { KeptSections } from '../kept-sections.js';
import { writeTrailer } from '../trailer.js';
import type { Trailer } from '../trailer.js';
import type { RankPlan } from './rank-options.js';

/** Where a rank writes. */
interface RankPaths {
  /** The rank's file. */
  path: string;
  ring: Ring;
  ringPath: string;
}

/** Sections at the end of a rank's file. A file next to it has them until then. */
export class EndSections {
  readonly kept: KeptSections;
  readonly sizes: DatatypeSizes;
  readonly #pairs: (readonly [string, string])[] = [];
  readonly #path: string;
  readonly #ring: Ring;

  constructor(sections: RankPlan['sections'], { path, ring, ringPath }: RankPaths) {
    this.#path = path;
    this.#ring = ring;
    this.sizes = new DatatypeSizes(sections.datatypeSizes);
    this.kept = {
      ...sections,
      keyvals: this.#pairs,
      datatypeSizes: this.sizes.list,
      writer: { ...ownIdentity(), ring: ringPath, file: path, ...identityOf(path) },
    };
  }

  /** Adds a pair. If that cannot be kept, the error is thrown and nothing has changed. */
  addPair(pair: readonly [key: string, value: string]): void {
    this.#change(() => {
      this.#pairs.push(pair);
      return () => this.#pairs.pop();
    });
  }

  /** Sets the size of a datatype, as `addPair` adds a pair. */
  setSize(datatype: number, bytes: number): void {
    this.#change(() => this.sizes.set(datatype, bytes));
  }

  /** Keeps the present state, such that it outlives the process. */
  keep(): void {
    keepSections(sideFiles(this.#path).sections, this.kept);
  }

  /** Before files are written by their paths, which another rank may use by now. */
  checkPath(): void {
    if (this.#ring.inPlace) return;
    wrapSystemError('path', this.#path, () => {
      const { ENOENT: errno } = constants.errno;
      throw Object.assign(new Error(`${this.#path} was removed`), { code: 'ENOENT', errno });
    });
  }

  /** Writes all that follows the calls, which end at `bodyEnd`. */
  write(bodyEnd: number, rest: Omit<Trailer, 'kept'>): void {
    writeTrailer(this.#path, bodyEnd, { kept: this.kept, ...rest });
  }

  #change(change: () => () => void): void {
    this.checkPath();
    const undo = change();
    if (recordsNothing()) return;
    try {
      this.keep();
    } catch (error) {
      undo();
      throw error;
    }
  }
}
