import { rmSync } from 'node:fs';
import type { Stretch } from '../parts/build-stretch.js';
import type { PartFacts } from '../parts/part-columns.js';
import type { PartShape } from '../parts/part-shape.js';
import { joinSource } from '../sources/source-joins.js';
import { PartFile } from './stored-part.js';
import { ShapeFile, writeShape } from './stored-shape.js';

/** A part of a trace that grows, in a file that only this process knows. */
export class LivePart extends PartFile {
  readonly #path: string;

  constructor(path: string, facts: PartFacts, stretch: Stretch) {
    super(path, facts, stretch);
    this.#path = path;
  }

  /** Puts the part's shape next to it, out of memory. */
  storeShape(shape: PartShape, laneCounts: readonly number[]): PartShape {
    const path = `${this.#path}-shape`;
    rmSync(path, { force: true });
    writeShape(path, shape);
    // A pyramid contains numbers of tracks that a part alone does not know: without one it is slower.
    const again = (): PartShape => ({
      lanes: joinSource([this]).shapes[0]!.lanes,
      pyramid: undefined,
    });
    return new ShapeFile(path, this.facts.rows, laneCounts, again);
  }

  remove(): void {
    this.close();
    for (const path of [this.#path, `${this.#path}-shape`]) rmSync(path, { force: true });
  }
}
