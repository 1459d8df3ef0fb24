import type { SpanAttributes } from '../attributes.js';
import type { Span } from '../span.js';
import { ReleasedFigures } from './released-figures.js';
import type { Numbering, OpenAttributes } from './released-figures.js';
import { kindOf, KIND_STRIDE, mapsOfKinds } from './span-flags.js';

/** Names that are told apart in a thread. */
const MOST_NAMES = 1000;
const OTHER = '(other)';

/** Names that came a short while ago are found by their lengths and kinds, without a map. A power of two. */
const RECENT = 64;

/**
 * Spans below the local roots, by name. All are counted when they end, and those that are kept are taken back when
 * they are copied: these are few.
 */
export class OperationCounts {
  readonly #open: OpenAttributes;
  readonly #numbering: Numbering;
  readonly #all: ReleasedFigures[] = [];
  readonly #byName = mapsOfKinds<ReleasedFigures>();
  readonly #recent = new Array<ReleasedFigures | undefined>(RECENT).fill(undefined);

  constructor(open: OpenAttributes, numbering: Numbering) {
    this.#open = open;
    this.#numbering = numbering;
  }

  /** Spans of a name, of which this is one. */
  of(name: string, span: Span): ReleasedFigures {
    const kind = kindOf(span.flags);
    const slot = (name.length + kind * KIND_STRIDE) & (RECENT - 1);
    const recent = this.#recent[slot];
    if (recent?.kind === kind && recent.name === name) return recent;
    return (this.#recent[slot] = this.#find(name, kind, span));
  }

  #find(name: string, kind: number, span: Span): ReleasedFigures {
    const known = this.#byName[kind]!.get(name);
    if (known !== undefined) return known;
    if (this.#all.length < MOST_NAMES) return this.#add(name, kind, this.#open.attributesOf(span));
    return this.#byName[0]!.get(OTHER) ?? this.#add(OTHER, 0, undefined);
  }

  #add(name: string, kind: number, attributes: SpanAttributes | undefined): ReleasedFigures {
    const operation = new ReleasedFigures({ name, route: '', kind, attributes }, this.#numbering);
    this.#all.push(operation);
    this.#byName[kind]!.set(name, operation);
    return operation;
  }

  get all(): readonly ReleasedFigures[] {
    return this.#all;
  }
}
