import { DESCRIPTION_OFFSET } from './layout.js';

const LENGTH_BYTES = 2;

/** Where the name of an event lies that begins at `at`: u16 length, then the text. */
export function nameAt(at: number): number {
  return at + DESCRIPTION_OFFSET;
}

/** Where the text of its name begins. */
export function descriptionAt(at: number): number {
  return at + DESCRIPTION_OFFSET + LENGTH_BYTES;
}

/** Where its attributes begin. They can lie after its end: nothing has been checked. */
export function attributesAt(view: DataView, at: number): number {
  return descriptionAt(at) + view.getUint16(nameAt(at));
}
