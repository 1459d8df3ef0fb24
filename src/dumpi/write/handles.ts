import { integerIn, oneOf } from '../../core/options/argument.js';
import { outOfRange, TracewrightError } from '../../core/errors.js';
import {
  Comm,
  Datatype,
  Errhandler,
  File,
  Group,
  Info,
  IoRequest,
  Keyval,
  Op,
  Request,
  Win,
} from '../constants.js';

/** The kinds of MPI objects that a trace numbers, each from a first number of its own. */
export type HandleKind =
  | 'comm'
  | 'datatype'
  | 'errhandler'
  | 'file'
  | 'group'
  | 'info'
  | 'ioRequest'
  | 'keyval'
  | 'op'
  | 'request'
  | 'win';

const LARGEST_I16 = 0x7fff;
const LARGEST_I32 = 0x7fff_ffff;

/** For each kind: the first number of the program's own, and the last that its field holds. */
const RANGES: Readonly<Record<HandleKind, readonly [first: number, last: number]>> = {
  comm: [Comm.FIRST_USER, LARGEST_I16],
  datatype: [Datatype.FIRST_USER, LARGEST_I16],
  errhandler: [Errhandler.FIRST_USER, LARGEST_I16],
  file: [File.FIRST_USER, LARGEST_I16],
  group: [Group.FIRST_USER, LARGEST_I16],
  info: [Info.FIRST_USER, LARGEST_I16],
  ioRequest: [IoRequest.FIRST_USER, LARGEST_I32],
  keyval: [Keyval.FIRST_USER, LARGEST_I16],
  op: [Op.FIRST_USER, 0xff],
  request: [Request.FIRST_USER, LARGEST_I32],
  win: [Win.FIRST_USER, LARGEST_I16],
};

/**
 * Numbers for the MPI objects of one kind. A new object gets a number that was freed, the last one
 * first, otherwise the next: the first object of a kind has the number that libdumpi gives it. No two
 * living objects have the same number of the program's own.
 */
export class HandleNumbers<Handle = unknown> {
  readonly kind: HandleKind;
  readonly #first: number;
  readonly #last: number;
  /** Below it every number of the program's own is in use or free. */
  #next: number;
  readonly #free: number[] = [];
  readonly #isFree = new Set<number>();
  /** Numbers from `#next` on that {@link define} gave. */
  readonly #ahead = new Set<number>();
  readonly #known = new Map<Handle, number>();
  /** Which object has a number of the program's own; what {@link take} gave has none. */
  readonly #holders = new Map<number, Handle>();

  constructor(kind: HandleKind) {
    this.kind = oneOf('kind', kind, Object.keys(RANGES) as HandleKind[]);
    [this.#first, this.#last] = RANGES[kind];
    this.#next = this.#first;
  }

  /**
   * A number that no living object of the kind has.
   *
   * @throws TracewrightError when the format has no number left.
   */
  take(): number {
    const freed = this.#free.pop();
    if (freed !== undefined) {
      this.#isFree.delete(freed);
      return freed;
    }
    this.#skipDefined();
    if (this.#next > this.#last) {
      throw new TracewrightError(
        'ERR_ARGUMENT_RANGE',
        `a trace has no number left for another ${this.kind}: free some`,
        { field: this.kind, value: this.#next, limit: `at most ${this.#last}` },
      );
    }
    return this.#next++;
  }

  /**
   * Gives back a number of the program's own. The object that has it, if any, is forgotten.
   *
   * @throws TracewrightError for a number that is not in use.
   */
  release(number: number): void {
    if (!this.#isInUse(number)) {
      throw outOfRange(this.kind, number, 'a number in use, of those that take returned');
    }
    if (this.#holders.has(number)) {
      this.#known.delete(this.#holders.get(number)!);
      this.#holders.delete(number);
    }
    if (this.#ahead.delete(number)) return;
    this.#isFree.add(number);
    this.#free.push(number);
  }

  /**
   * The number of an object, a new one when it is seen for the first time. A predefined number, such
   * as `Comm.WORLD`, means itself unless it was defined as another.
   *
   * @throws TracewrightError when the format has no number left.
   */
  numberOf(handle: Handle): number {
    const known = this.#known.get(handle);
    if (known !== undefined) return known;
    if (this.#isPredefined(handle)) return handle;
    const number = this.take();
    this.#known.set(handle, number);
    this.#holders.set(number, handle);
    return number;
  }

  /**
   * Gives an object a number of its own choice: a predefined one, which several objects may have, or
   * one of the program's own that no living object has. A number that the object had is given back.
   *
   * @param number 0 to what the kind's field holds: 255 for `op`, 2^31 - 1 for `request` and
   *   `ioRequest`, 32,767 for the others.
   * @throws TracewrightError for another number, and for one that is in use; nothing changes then.
   */
  define(handle: Handle, number: number): void {
    const given = integerIn(this.kind, number, 0, this.#last);
    const known = this.#known.get(handle);
    if (known === given) return;
    if (this.#isInUse(given)) throw outOfRange(this.kind, given, 'a number that is not in use');
    if (known !== undefined) this.forget(handle);
    this.#known.set(handle, given);
    if (given < this.#first) return;
    this.#holders.set(given, handle);
    if (this.#isFree.delete(given)) this.#free.splice(this.#free.indexOf(given), 1);
    else this.#ahead.add(given);
  }

  /**
   * Forgets an object, whose number may be used again unless it is a predefined one. Unknown objects
   * are left alone.
   */
  forget(handle: Handle): void {
    const number = this.#known.get(handle);
    if (number === undefined) return;
    if (number >= this.#first) this.release(number);
    else this.#known.delete(handle);
  }

  #isPredefined(handle: unknown): handle is number {
    return Number.isInteger(handle) && (handle as number) >= 0 && (handle as number) < this.#first;
  }

  /** Whether a number of the program's own is in use. */
  #isInUse(number: number): boolean {
    if (this.#ahead.has(number)) return true;
    if (!Number.isInteger(number) || number < this.#first) return false;
    return number < this.#next && !this.#isFree.has(number);
  }

  #skipDefined(): void {
    while (this.#ahead.delete(this.#next)) this.#next++;
  }
}

/** The objects of a rank, by kind. */
export type Handles = Readonly<Record<HandleKind, HandleNumbers>>;

/** Numbers for each kind of object. */
export function createHandles(): Handles {
  return Object.fromEntries(
    (Object.keys(RANGES) as HandleKind[]).map((kind) => [kind, new HandleNumbers(kind)]),
  ) as unknown as Handles;
}
