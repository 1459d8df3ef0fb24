import { checkSectionString } from '../section-encoder.js';
import { wrongType } from '../../core/errors.js';
import { ANNOTATION, FIRST_FUNCTION_ADDRESS } from '../layout.js';
import type { FunctionNames } from './function-names.js';

/** Keys of annotations: the caller's own are smaller than those that are given out. */
export const LAST_OWN_KEY = 4095;
const FIRST_GIVEN_KEY = 4096n;

/**
 * The addresses by which records refer to functions. Annotations are functions too: their address is
 * a key, and their name is a text.
 */
export class FunctionAddresses {
  readonly #names: FunctionNames;
  readonly #functions = new Map<string, bigint>();
  readonly #ownKeys = new Set<number>();
  #nextAddress = FIRST_FUNCTION_ADDRESS;
  #nextKey = FIRST_GIVEN_KEY;

  constructor(names: FunctionNames) {
    this.#names = names;
  }

  /**
   * The address of a function. Undefined when its name found no room: it counts as dropped, and the
   * next call tries again.
   *
   * @throws TracewrightError for a name that the format cannot store.
   */
  of(name: string): bigint | undefined {
    const known = this.#functions.get(name);
    if (known !== undefined) return known;
    if (typeof (name as unknown) !== 'string') throw wrongType('name', name, 'a string');
    checkSectionString('name', name);
    const address = this.#nextAddress++;
    if (!this.#names.add(address, name)) return undefined;
    this.#functions.set(name, address);
    return address;
  }

  /** A new key for an annotation; undefined when its text found no room. */
  newKey(text: string): bigint | undefined {
    const key = this.#nextKey++;
    return this.#names.add(key, ANNOTATION + text) ? key : undefined;
  }

  /** The caller's key for an annotation; undefined when its text found no room. */
  ownKey(key: number, text: string): bigint | undefined {
    const address = BigInt(key);
    if (!this.#ownKeys.has(key)) {
      if (!this.#names.add(address, ANNOTATION + text)) return undefined;
      this.#ownKeys.add(key);
    }
    return address;
  }
}
