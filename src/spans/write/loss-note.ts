import type { OpenRecords } from '../../core/ring/open-records.js';

/** A record of a thread's losses, and where its two u64 have their low halves. */
export interface EncodedLosses {
  bytes: Buffer;
  openAt: number;
  textsAt: number;
}

/**
 * A thread's losses, as an open record in a reserved slot. So whatever ends the process writes it, with the
 * spans that are open then.
 */
export class LossNote {
  readonly #table: OpenRecords;
  readonly #encode: () => EncodedLosses;
  readonly #at: number;
  #record: EncodedLosses | undefined;
  #open = 0;
  #texts = 0;
  #isThere = false;

  constructor(table: OpenRecords, encode: () => EncodedLosses) {
    this.#table = table;
    this.#encode = encode;
    this.#at = table.reserve();
  }

  /** @param open one more span without a slot (1), or one less (-1). @param texts that redaction has not recorded. */
  add(open: number, texts: number): void {
    this.#open += open;
    this.#texts += texts;
    const table = this.#table;
    const at = this.#at;
    if (at === -1 || !table.isOpen) return;
    table.attend();
    if (this.#record === undefined) {
      this.#record = this.#encode();
      table.bytes.set(this.#record.bytes, at);
    }
    table.view.setUint32(at + this.#record.openAt, this.#open);
    table.view.setUint32(at + this.#record.textsAt, this.#texts);
    const isWanted = this.#open > 0 || this.#texts > 0;
    if (isWanted === this.#isThere) return;
    this.#isThere = isWanted;
    if (isWanted) table.publish(at, this.#record.bytes.length);
    else table.vacate(at);
  }
}
