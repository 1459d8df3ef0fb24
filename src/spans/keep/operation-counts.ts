import { attributesAt } from '../../heph/event-head.js';
import { END_OFFSET, START_OFFSET } from '../../heph/layout.js';
import { FLAGS_AFTER_NAME } from '../layout.js';
import { hasFailed, kindOf } from './keep-decision.js';
import { ReleasedFigures } from './released-figures.js';

/** Names that are told apart in a thread. */
const MOST_NAMES = 1000;
const OTHER = '(other)';
const HIGH_WORD = 2 ** 32;

function timeAt(view: DataView, at: number): number {
  return view.getUint32(at) * HIGH_WORD + view.getUint32(at + 4);
}

/** Nanoseconds of the span whose record lies at `at`. */
function durationAt(view: DataView, at: number): number {
  return timeAt(view, at + END_OFFSET) - timeAt(view, at + START_OFFSET);
}

/** Names that came a short while ago are found by their lengths, without a map. A power of two. */
const RECENT = 64;

/** Spans of one name below the local roots. */
export class Operation extends ReleasedFigures {
  /** By which a span is taken back: from 1 on. */
  declare readonly number: number;

  constructor(number: number, name: string, kind: number) {
    super(name, '', kind);
    this.number = number;
  }
}

/**
 * Spans below the local roots, by name. All are counted when they end, and those that are kept are taken back when
 * they are copied: these are few.
 */
export class OperationCounts {
  readonly #all: Operation[] = [];
  readonly #byName = new Map<string, Operation>();
  readonly #recent = new Array<Operation | undefined>(RECENT).fill(undefined);

  /** Spans of a name. The first of them has its kind in its flags. */
  of(name: string, flags: number): Operation {
    const slot = name.length & (RECENT - 1);
    const recent = this.#recent[slot];
    if (recent !== undefined && recent.name === name) return recent;
    return (this.#recent[slot] = this.#find(name, kindOf(flags)));
  }

  #find(name: string, kind: number): Operation {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    if (this.#all.length > MOST_NAMES && name !== OTHER) return this.#find(OTHER, 0);
    const operation = new Operation(this.#all.length + 1, name, kind);
    this.#all.push(operation);
    this.#byName.set(name, operation);
    return operation;
  }

  /**
   * A span has ended, of which the record lies at `at`.
   *
   * @returns the number by which it is taken back.
   */
  add(view: DataView, at: number, name: string, flags: number): number {
    const operation = this.of(name, flags);
    operation.release(durationAt(view, at), hasFailed(flags));
    return operation.number;
  }

  /** @param duration nanoseconds. */
  addDuration(name: string, flags: number, duration: number): void {
    this.of(name, flags).release(duration, hasFailed(flags));
  }

  /** A span that was counted is kept: its record lies at `at`. */
  takeBack(number: number, view: DataView, at: number): void {
    const flags = view.getUint32(attributesAt(view, at) + FLAGS_AFTER_NAME);
    this.#all[number - 1]!.takeBack(durationAt(view, at), hasFailed(flags));
  }

  /** Those of which spans were not kept since the last record. */
  *unrecorded(): Generator<ReleasedFigures, void> {
    for (const figures of this.#all) {
      figures.settle();
      if (figures.released.count > 0) yield figures;
    }
  }
}
