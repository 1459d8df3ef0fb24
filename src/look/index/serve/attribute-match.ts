import { DESCRIPTION_OFFSET } from '../../../heph/layout.js';
import type { EventBytes } from '../../../heph/read/event-bytes.js';
import { sameAttribute } from '../../../spans/read/older-names.js';
import { mayContain } from '../parts/attribute-blocks.js';
import type { AttributeBlocks } from '../parts/attribute-blocks.js';
import { hashesOfAttribute } from '../../../spans/read/scan/attribute-hash.js';
import { AttributeScan } from '../../../spans/read/scan/attribute-scan.js';
import { RowColumns } from '../../../rows/row-columns.js';

/** Says which blocks and which records may have some attributes, without decoding a span. */
export class AttributeMatch {
  /** Of each attribute the hashes that it can have. */
  readonly #hashes: readonly (readonly number[])[];
  /** For a whole array, of which there are only the hashes of its elements. */
  readonly #names: readonly (readonly Buffer[])[] | undefined;
  readonly #found = new RowColumns(1);
  readonly #scan = new AttributeScan(this.#found);

  constructor(attributes: readonly { name: string; value: string }[]) {
    const isWhole = attributes.some(({ value }) => value.startsWith('['));
    this.#names = isWhole
      ? attributes.map(({ name }) => sameAttribute(name).map((each) => Buffer.from(each)))
      : undefined;
    this.#hashes = attributes.map(({ name, value }) =>
      sameAttribute(name).flatMap((each) => hashesOfAttribute(each, value)),
    );
  }

  /** Whether one row of a block may have all of them. */
  isInBlock(filters: AttributeBlocks, block: number): boolean {
    if (this.#names !== undefined) return true;
    return this.#hashes.every((each) => mayContain(filters, block, each));
  }

  /** Whether a record may have all of them. */
  isInRecord({ bytes, view, place, size }: EventBytes): boolean {
    if (this.#names !== undefined) {
      const record = bytes.subarray(place, place + size);
      return this.#names.every((names) => names.some((name) => record.includes(name)));
    }
    const found = this.#found;
    found.hashCount = 0;
    const description = place + DESCRIPTION_OFFSET;
    const from = description + 2 + view.getUint16(description);
    // What is faulty is for the decoder to judge.
    if (!this.#scan.read(bytes, view, from, place + size)) return true;
    return this.#hashes.every((wanted) => {
      for (let i = 0; i < found.hashCount; i++) {
        if (wanted.includes(found.hashes[i]!)) return true;
      }
      return false;
    });
  }
}
