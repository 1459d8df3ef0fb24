import { outOfRange, TracewrightError } from '../core/errors.js';
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
} from './constants.js';

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
 * first, otherwise the next: the first object of a kind has the number that libdumpi gives it.
 */
export class HandleNumbers<Handle = unknown> {
  readonly kind: HandleKind;
  #next: number;
  readonly #last: number;
  readonly #free: number[] = [];
  readonly #isFree = new Set<number>();
  readonly #known = new Map<Handle, number>();

  constructor(kind: HandleKind) {
    this.kind = kind;
    if (!Object.hasOwn(RANGES, kind)) {
      throw outOfRange('kind', kind, Object.keys(RANGES).join(', '));
    }
    [this.#next, this.#last] = RANGES[kind];
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
    if (this.#next > this.#last) {
      throw new TracewrightError(
        'ERR_ARGUMENT_RANGE',
        `a trace has no number left for another ${this.kind}: free some`,
        { field: this.kind, value: this.#next, limit: `at most ${this.#last}` },
      );
    }
    return this.#next++;
  }

  /** Gives back a number that {@link take} returned. */
  release(number: number): void {
    const first = RANGES[this.kind][0];
    if (!Number.isInteger(number) || number < first || number >= this.#next) {
      throw outOfRange(this.kind, number, 'a number that take returned');
    }
    if (this.#isFree.has(number)) throw outOfRange(this.kind, number, 'a number in use');
    this.#isFree.add(number);
    this.#free.push(number);
  }

  /** The number of an object, a new one when it is seen for the first time. */
  numberOf(handle: Handle): number {
    let number = this.#known.get(handle);
    if (number === undefined) {
      number = this.take();
      this.#known.set(handle, number);
    }
    return number;
  }

  /** Gives an object a number of its own choice: a predefined one, say. */
  define(handle: Handle, number: number): void {
    this.#known.set(handle, number);
  }

  /** Forgets an object, whose number may be used again. Unknown ones are left alone. */
  forget(handle: Handle): void {
    const number = this.#known.get(handle);
    if (number === undefined) return;
    this.#known.delete(handle);
    if (number >= RANGES[this.kind][0]) this.release(number);
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
