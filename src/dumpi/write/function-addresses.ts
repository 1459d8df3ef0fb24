import { checkSectionString } from '../section-encoder.js';
import { outOfRange, wrongType } from '../../core/errors.js';
import { ANNOTATION, FIRST_FUNCTION_ADDRESS, NO_FUNCTION_NAME, TURN_ADDRESSES } from '../layout.js';
import { ofType } from '../../core/options/argument.js';
import type { FunctionNames } from './function-names.js';

/** Keys of annotations: the caller's own are smaller than those that are given out. */
export const LAST_OWN_KEY = 4095;
const FIRST_GIVEN_KEY = 4096n;
const LAST_ADDRESS = 2n ** 64n - 1n;
const OWN_ADDRESS_LIMIT =
  'an integer from 4096 to 2^64 - 1, but neither 2^32 - 2 nor 2^32 - 1, that no other function or annotation has';

/** A function at an address of the program's own, such as that of its code. */
export interface FunctionAt {
  /** 4,096 to 2^64 - 1, but neither 2^32 - 2 nor 2^32 - 1. */
  address: bigint | number;
  /**
   * A later call can give it. An address that never gets one has `<none>`, the format's name for a
   * function whose name is not known.
   */
  name?: string;
}

function checkName(name: unknown): void {
  checkSectionString('name', ofType('name', name, 'string'));
}

/**
 * The addresses by which records refer to functions. Annotations are functions too: their address is
 * a key, and their name is a text.
 */
export class FunctionAddresses {
  readonly #names: FunctionNames;
  readonly #functions = new Map<string, bigint>();
  readonly #ownKeys = new Map<number, string>();
  /** The caller's addresses with the name that each has; undefined: none was given so far. */
  readonly #ownAddresses = new Map<bigint, string | undefined>();
  #nextAddress = FIRST_FUNCTION_ADDRESS;
  #nextKey = FIRST_GIVEN_KEY;

  constructor(names: FunctionNames) {
    this.#names = names;
  }

  /**
   * The address of a function. Undefined when its name found no room: it counts as dropped, and the
   * next call tries again.
   *
   * @throws TracewrightError for a name that the format cannot store, and for an address that is out
   *   of its range, in use, or that of a function with another name.
   */
  of(fn: string | FunctionAt): bigint | undefined {
    if (typeof fn !== 'string') {
      if (typeof fn === 'object' && (fn as unknown) !== null) return this.#ownAddress(fn);
      throw wrongType('name', fn, 'a string, or an object with an address');
    }
    const known = this.#functions.get(fn);
    if (known !== undefined) return known;
    checkSectionString('name', fn);
    while (this.#ownAddresses.has(this.#nextAddress)) this.#nextAddress++;
    const address = this.#nextAddress++;
    if (!this.#names.add(address, fn)) return undefined;
    this.#functions.set(fn, address);
    return address;
  }

  /** The caller's address for a function. Its name is stored when it is first given. */
  #ownAddress({ address: given, name }: FunctionAt): bigint | undefined {
    const address =
      typeof given === 'number' && Number.isSafeInteger(given) ? BigInt(given) : given;
    const known = this.#ownAddresses.get(address as bigint);
    if (known !== undefined && (name === undefined || name === known)) return address as bigint;
    if (typeof address !== 'bigint') {
      if (typeof address === 'number') throw outOfRange('address', address, OWN_ADDRESS_LIMIT);
      throw wrongType('address', address, 'a bigint or an integer');
    }
    if (known !== undefined) {
      checkName(name);
      throw outOfRange('name', name, `${JSON.stringify(known)}, the name of this address`);
    }
    if (!this.#ownAddresses.has(address)) this.#checkFree(address, given);
    if (name !== undefined) {
      checkName(name);
      if (!this.#names.add(address, name)) return undefined;
    }
    this.#ownAddresses.set(address, name);
    return address;
  }

  #checkFree(address: bigint, given: bigint | number): void {
    const isTurn = address === TURN_ADDRESSES.wall || address === TURN_ADDRESSES.cpu;
    const isGiven =
      address < this.#nextKey || (address >= FIRST_FUNCTION_ADDRESS && address < this.#nextAddress);
    if (isTurn || isGiven || address > LAST_ADDRESS) {
      throw outOfRange('address', given, OWN_ADDRESS_LIMIT);
    }
  }

  /** Stores the format's word for addresses that never got a name. */
  nameTheRest(): void {
    for (const [address, name] of this.#ownAddresses) {
      if (name === undefined) this.#names.add(address, NO_FUNCTION_NAME);
    }
  }

  /** A new key for an annotation; undefined when its text found no room. */
  newKey(text: string): bigint | undefined {
    while (this.#ownAddresses.has(this.#nextKey)) this.#nextKey++;
    const key = this.#nextKey++;
    return this.#names.add(key, ANNOTATION + text) ? key : undefined;
  }

  /** The caller's key for an annotation; undefined when its text found no room. */
  ownKey(key: number, text: string): bigint | undefined {
    const address = BigInt(key);
    const known = this.#ownKeys.get(key);
    if (known === undefined) {
      if (!this.#names.add(address, ANNOTATION + text)) return undefined;
      this.#ownKeys.set(key, text);
    } else if (known !== text) {
      throw outOfRange('text', text, `${JSON.stringify(known)}, the text of key ${key}`);
    }
    return address;
  }
}
