import type { ProtobufBytes } from '../protobuf-bytes.js';
import { ENTRY_IID, ENTRY_TEXT } from './schema.js';

/** A table that has grown beyond these begins anew, so that a reader's and our memory stay bounded. */
const MAX_TEXTS = 1 << 15;
const MAX_CHARACTERS = 1 << 22;
/** Longer texts are never interned. */
const LONGEST = 1 << 10;

/** The texts of one table of InternedData, by number. */
export class InternedTexts {
  readonly #tag: number;
  readonly #pending: ProtobufBytes;
  readonly #numbers = new Map<string, number>();
  readonly #afterFirst: boolean;
  #next = 1;
  #characters = 0;

  /**
   * @param tag of the table.
   * @param pending takes the new entries, for the packet that first refers to them.
   * @param afterFirst whether a text gets a number only when it comes again.
   */
  constructor(tag: number, pending: ProtobufBytes, afterFirst: boolean) {
    this.#tag = tag;
    this.#pending = pending;
    this.#afterFirst = afterFirst;
  }

  get isFull(): boolean {
    return this.#numbers.size > MAX_TEXTS || this.#characters > MAX_CHARACTERS;
  }

  /** The number of a text; 0: the event says it itself. */
  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined && known !== 0) return known;
    if (text.length > LONGEST) return 0;
    if (known === undefined) {
      this.#characters += text.length;
      if (this.#afterFirst) {
        this.#numbers.set(text, 0);
        return 0;
      }
    }
    const number = this.#next++;
    this.#numbers.set(text, number);
    const pending = this.#pending;
    const entry = pending.begin(this.#tag);
    pending.uint(ENTRY_IID, number);
    pending.text(ENTRY_TEXT, text);
    pending.end(entry);
    return number;
  }

  clear(): void {
    this.#numbers.clear();
    this.#next = 1;
    this.#characters = 0;
  }
}
