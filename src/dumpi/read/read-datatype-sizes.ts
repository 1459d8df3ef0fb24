import { labelOf } from '../calls.js';
import { Datatype } from '../constants.js';
import { MAKING_DATATYPES, listedSize, saysSize, sizedDatatype } from '../datatype-sizes.js';
import type { CallRecord } from './call-record.js';
import type { Sections } from './section-reader.js';

/**
 * The sizes of a rank's datatypes at the call that was read last. A number that is used again has
 * another size from then on, which the section of the sizes does not say.
 */
export class ReadDatatypeSizes {
  readonly #listed: readonly number[];
  /** Those that the calls so far have said; NaN: made by a call that does not say enough. */
  readonly #said = new Map<number, number>();

  constructor({ datatypeSizes = [], footer }: Partial<Sections> = {}) {
    // Of the datatypes that share a number the section has one size, and it is not known whose.
    const mayShare =
      MAKING_DATATYPES.some((name) => (footer?.ignored[labelOf(name)] ?? 0) > 0) &&
      (footer?.calls[labelOf('MPI_Type_free')] ?? 0) > 0;
    this.#listed = mayShare ? datatypeSizes.slice(0, Datatype.FIRST_USER) : datatypeSizes;
  }

  call({ name, fields }: CallRecord): void {
    if (!saysSize(name)) return;
    const sized = sizedDatatype(name, fields, this.#sizeOf);
    if (sized === undefined) return;
    const { datatype, bytes } = sized;
    if (bytes !== undefined) this.#said.set(datatype, bytes);
    else if (this.#said.has(datatype)) this.#said.set(datatype, NaN);
  }

  /** Bytes of a datatype; NaN where they are not known. */
  of(datatype: number): number {
    return this.#sizeOf(datatype) ?? NaN;
  }

  readonly #sizeOf = (datatype: number): number | undefined => {
    return this.#said.get(datatype) ?? listedSize(this.#listed, datatype);
  };
}
