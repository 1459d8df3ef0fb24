import type { SpanAttributes } from '../attributes.js';
import type { Span } from '../span.js';
import { attributesAt } from '../../heph/event-head.js';
import { END_OFFSET, START_OFFSET } from '../../heph/layout.js';
import { FLAGS_AFTER_NAME } from '../layout.js';
import { ReleasedFigures } from './released-figures.js';
import type { AttributesOf } from './released-figures.js';
import { hasFailed, kindOf } from './span-flags.js';

/** Names that are told apart in a thread. */
const MOST_NAMES = 1000;
const OTHER = '(other)';
const HIGH_WORD = 2 ** 32;

function timeAt(view: DataView, at: number): number {
  return view.getUint32(at) * HIGH_WORD + view.getUint32(at + 4);
}

/** Nanoseconds of the span whose record lies at `at`. */
export function durationAt(view: DataView, at: number): number {
  return timeAt(view, at + END_OFFSET) - timeAt(view, at + START_OFFSET);
}

/** Names that came a short while ago are found by their lengths, without a map. A power of two. */
const RECENT = 64;

/** Spans of one name below the local roots. */
export class Operation extends ReleasedFigures {
  /** By which a span is taken back: from 1 on. */
  declare readonly number: number;

  constructor(number: number, name: string, kind: number, attributes: SpanAttributes | undefined) {
    super({ name, route: '', kind, attributes });
    this.number = number;
  }
}

/**
 * Spans below the local roots, by name. All are counted when they end, and those that are kept are taken back when
 * they are copied: these are few.
 */
export class OperationCounts {
  readonly #attributesOf: AttributesOf;
  readonly #all: Operation[] = [];
  readonly #byName = new Map<string, Operation>();
  readonly #recent = new Array<Operation | undefined>(RECENT).fill(undefined);

  constructor(attributesOf: AttributesOf) {
    this.#attributesOf = attributesOf;
  }

  /** Spans of a name, of which this is one. */
  of(name: string, span: Span): Operation {
    const slot = name.length & (RECENT - 1);
    const recent = this.#recent[slot];
    if (recent !== undefined && recent.name === name) return recent;
    return (this.#recent[slot] = this.#find(name, span));
  }

  #find(name: string, span: Span): Operation {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    if (this.#all.length < MOST_NAMES) {
      return this.#add(name, kindOf(span.flags), this.#attributesOf(span));
    }
    return this.#byName.get(OTHER) ?? this.#add(OTHER, 0, undefined);
  }

  #add(name: string, kind: number, attributes: SpanAttributes | undefined): Operation {
    const operation = new Operation(this.#all.length + 1, name, kind, attributes);
    this.#all.push(operation);
    this.#byName.set(name, operation);
    return operation;
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
