import { buildEmitter } from '../../core/ring/emitter-builder.js';
import { writeUtf8 } from '../../core/utf8.js';
import { DESCRIPTION_OFFSET, SIZE_OFFSET, START_OFFSET, SUBSTREAM_OFFSET } from '../layout.js';
import { writeInteger, writeUntyped } from './encoder.js';
import { recordTaken } from './event-stream.js';
import type { EventStream, EventTrace } from './event-stream.js';
import {
  constantStores,
  headStores,
  measureValue,
  prefixed,
  timeStores,
  writeValueAt,
} from './event-text.js';
import { isUsual, listNames, takeValues } from './taken-attributes.js';
import { SURELY_SHORT } from './value.js';
import type { Attributes } from './value.js';

/** Records an event that began at `trace.started[0]`. */
export type EventEmitter = (
  stream: EventStream,
  substream: number | bigint,
  attributes: Attributes | undefined,
) => void;

/** Events that a shape needs before its emitter is compiled. */
const SEEN_BEFORE_COMPILE = 50;
/** Compiling takes as long as some hundred events without an emitter: so many pay for it. */
const EVENTS_A_COMPILE = 1000;
/** So many descriptions are compiled at once, before events have paid for it. */
const COMPILED_AT_FIRST = 64;
/** Shapes of one description, such as several orders of the same names. */
const MAX_SHAPES = 4;
/** Descriptions in a generation of those that have emitters; there are two generations. */
const GENERATION = 128;
/** Slots for descriptions that came a short while ago: a power of two. */
const RECENT = 64;
/** Slots for descriptions that are counted and have no emitter: a power of two. */
const CANDIDATES = 256;
/** Names for which the list is kept for the next event. */
const KEPT_NAMES = 64;
/** Bounds of the constants in an emitter. */
export const MAX_NAMES = 32;
const MAX_CONSTANT_BYTES = 2048;

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { hasOwnProperty } = Object.prototype;

/** Compiles the emitter of a shape; undefined if its constants would be long. */
export type ShapeCompiler<Emitter> = (
  trace: EventTrace,
  description: string,
  names: readonly string[],
) => Emitter | undefined;

/** A description, and names of attributes in their order. The types of the values can change. */
class EventShape<Emitter> {
  emitter: Emitter | undefined;
  readonly description: string;
  readonly #names: readonly string[];
  #seen = 0;

  constructor(description: string, names: readonly string[]) {
    this.description = description;
    this.#names = names;
  }

  /** Whether an object has these names, in their order. Reads no property. */
  isOf(attributes: object | undefined): boolean {
    const own = this.#names;
    const { length } = own;
    let count = 0;
    for (const name in attributes) {
      if (!hasOwnProperty.call(attributes, name)) continue;
      if (count === length || own[count] !== name) return false;
      count++;
    }
    return count === length;
  }

  fits(names: readonly string[], count: number): boolean {
    const own = this.#names;
    if (own.length !== count) return false;
    for (let i = 0; i < count; i++) if (own[i] !== names[i]) return false;
    return true;
  }

  /** Counts an event without an emitter; returns whether the shape is worth one. */
  isFrequent(): boolean {
    this.#seen += 1;
    return this.#seen >= SEEN_BEFORE_COMPILE;
  }

  compile(trace: EventTrace, compiler: ShapeCompiler<Emitter>): void {
    this.emitter = compiler(trace, this.description, this.#names);
    // One that cannot be compiled is not tried again.
    if (this.emitter === undefined) this.#seen = -Infinity;
  }
}

/** A description, and its shapes in the order in which they came. */
class Described<Emitter> {
  readonly description: string;
  readonly shapes: EventShape<Emitter>[] = [];
  /** Whether one of the shapes has had an emitter. */
  isFrequent = false;

  constructor(description: string) {
    this.description = description;
  }

  /** The shape of an event with these names; undefined if there are too many shapes. */
  shapeOf(names: readonly string[], count: number): EventShape<Emitter> | undefined {
    const { shapes } = this;
    for (const shape of shapes) if (shape.fits(names, count)) return shape;
    if (shapes.length >= MAX_SHAPES || count > MAX_NAMES) return undefined;
    const own = names.slice(0, count);
    // Names that are not valid are among the longer ones.
    if (own.some((name) => name.length > MAX_CONSTANT_BYTES)) return undefined;
    const shape = new EventShape<Emitter>(this.description, own);
    shapes.push(shape);
    return shape;
  }
}

/** Where a candidate is kept. A map would take longer than it saves: most descriptions are rare. */
function slotOf(description: string): number {
  const { length } = description;
  if (length === 0) return 0;
  const last = description.charCodeAt(length - 1);
  const middle = description.charCodeAt(length >> 1);
  return (length + 7 * last + 31 * middle + 97 * description.charCodeAt(0)) & (CANDIDATES - 1);
}

/**
 * The shapes of the events that a thread records with `finishTrace`. Frequent ones have an emitter
 * that stores the description and the names as constants.
 *
 * Memory is bounded, and so is the time for compiling: rare descriptions never replace frequent ones.
 * A full generation of frequent ones becomes the old one; of the old one before only those stay that
 * were used since.
 */
export class EventShapes<Emitter> {
  readonly #trace: EventTrace;
  readonly #compiler: ShapeCompiler<Emitter>;
  #young = new Map<string, Described<Emitter>>();
  #old = new Map<string, Described<Emitter>>();
  /** A frequent one that came last, and a shape with an emitter. */
  #last: Described<Emitter> | undefined;
  #lastShape: EventShape<Emitter> | undefined;
  /** Frequent ones that came a short while ago, to be found without a map. */
  readonly #recent = new Array<Described<Emitter> | undefined>(RECENT).fill(undefined);
  /** Descriptions that may become frequent. */
  readonly #candidates = new Array<Described<Emitter> | undefined>(CANDIDATES).fill(undefined);
  /** The description that last came to each slot, if it is not the candidate's. */
  readonly #latest = new Array<string>(CANDIDATES).fill('');
  #credit = COMPILED_AT_FIRST * EVENTS_A_COMPILE;
  /** For the names of an event. None while names are listed: a proxy can record another event. */
  #names: string[] | undefined = [];

  constructor(trace: EventTrace, compiler: ShapeCompiler<Emitter>) {
    this.#trace = trace;
    this.#compiler = compiler;
  }

  /** The emitter for an event; undefined if it is rare. Reads no property of the attributes. */
  emitterFor(description: string, attributes: object | undefined): Emitter | undefined {
    const shape = this.#lastShape;
    // Not by `?.`: V8 compares two texts, and not anything with a text.
    if (shape !== undefined && shape.description === description && shape.isOf(attributes)) {
      return shape.emitter;
    }
    const last = this.#last;
    const described = last?.description === description ? last : this.#described(description);
    if (described === undefined) return undefined;
    const { shapes } = described;
    for (let i = 0; i < shapes.length; i++) {
      const other = shapes[i]!;
      if (other.emitter === undefined || !other.isOf(attributes)) continue;
      this.#lastShape = other;
      return other.emitter;
    }
    return this.#emitterOfOther(described, attributes);
  }

  /** The shapes of a description; undefined if it came too rarely. */
  #described(description: string): Described<Emitter> | undefined {
    const { length } = description;
    // Past the end the code is NaN, of which a shift makes 0.
    const slot = (length + (description.charCodeAt(length - 1) << 2)) & (RECENT - 1);
    let described = this.#recent[slot];
    if (described?.description !== description) {
      described = this.#young.get(description) ?? this.#otherDescribed(description);
      if (described?.isFrequent !== true) return described;
      this.#recent[slot] = described;
    }
    this.#last = described;
    return described;
  }

  /** The emitter of names that none of the emitters has; undefined if they are rare. */
  #emitterOfOther(
    described: Described<Emitter>,
    attributes: object | undefined,
  ): Emitter | undefined {
    const names = this.#names ?? [];
    this.#names = undefined;
    const count = listNames(attributes, names);
    this.#names = names.length > KEPT_NAMES ? [] : names;
    const shape = described.shapeOf(names, count);
    if (shape === undefined) return undefined;
    return shape.emitter ?? this.#count(described, shape);
  }

  /** The shapes of a description that is not young; undefined if it came too rarely. */
  #otherDescribed(description: string): Described<Emitter> | undefined {
    const old = this.#old.get(description);
    if (old !== undefined) {
      this.#keep(old);
      return old;
    }
    this.#credit += 1;
    if (description.length > MAX_CONSTANT_BYTES) return undefined;
    const slot = slotOf(description);
    const candidate = this.#candidates[slot];
    if (candidate?.description === description) return candidate;
    // A description becomes the candidate of its slot when it comes twice in a row.
    if (this.#latest[slot] === description) {
      return (this.#candidates[slot] = new Described<Emitter>(description));
    }
    this.#latest[slot] = description;
    return undefined;
  }

  #count(described: Described<Emitter>, shape: EventShape<Emitter>): Emitter | undefined {
    if (!shape.isFrequent() || this.#credit < EVENTS_A_COMPILE) return undefined;
    this.#credit -= EVENTS_A_COMPILE;
    shape.compile(this.#trace, this.#compiler);
    if (shape.emitter !== undefined && !described.isFrequent) {
      described.isFrequent = true;
      this.#candidates[slotOf(described.description)] = undefined;
      this.#keep(described);
    }
    return shape.emitter;
  }

  #keep(described: Described<Emitter>): void {
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(described.description, described);
  }
}

/**
 * Compiles events as `finishTrace` records them. An emitter reads every property once, and first of all:
 * a getter can record another event.
 */
export function compileShape(
  trace: EventTrace,
  description: string,
  names: readonly string[],
): EventEmitter | undefined {
  const texts = [prefixed(description), ...names.map(prefixed)];
  const constantBytes = Buffer.concat(texts).length;
  if (constantBytes > MAX_CONSTANT_BYTES) return undefined;
  const { packetLimit, ring } = trace;
  // Of each value its type, and eight bytes or the length and at most three bytes a character.
  const fixedBytes = DESCRIPTION_OFFSET + constantBytes + 9 * names.length;
  const mostCharacters = Math.min(SURELY_SHORT, Math.floor((ring.longestRecord - fixedBytes) / 3));
  const values = names.map((_, i) => `v${i}`);
  const constant = (text: Buffer): string =>
    [...constantStores(text, 'at'), `at += ${text.length};`].join('\n  ');
  return buildEmitter<Parameters<EventEmitter>>(
    trace,
    {
      name: description,
      parameters: ['stream', 'substream', ...values],
      scope: {
        started: trace.started,
        isUsual,
        writeInteger,
        writeUtf8,
        writeUntyped,
        ...Object.fromEntries(names.map((name, i) => [`n${i}`, name])),
      },
      entry: {
        parameters: ['stream', 'substream', 'attributes'],
        prepare: `const timing = started[0];
  ${values.map((value, i) => `const ${value} = attributes[n${i}];`).join('\n  ')}
  started[0] = timing;`,
        plainArguments: ['stream', 'substream', `[${values.join(', ')}]`],
      },
      prepare: `let characters = 0;
  let areUsual = true;
  ${values.map(measureValue).join('\n  ')}`,
      test: `areUsual && characters <= ${mostCharacters}`,
      bytes: `${fixedBytes} + 3 * characters`,
      write: `const { counter } = stream;
  const number = counter[0];
  ${headStores('stream.id', 'number')}
  ${timeStores('started[0]', START_OFFSET)}
  counter[0] = number + 1;
  writeInteger(view, start + ${SUBSTREAM_OFFSET}, substream);
  let at = start + ${DESCRIPTION_OFFSET};
  ${constant(texts[0]!)}
  ${values.map((value, i) => `if (${value} !== undefined) {\n    ${constant(texts[i + 1]!)}\n    ${writeValueAt(value, 'writeUntyped')}\n  }`).join('\n  ')}
  view.setInt32(start + ${SIZE_OFFSET}, at - start);
  ${packetLimit === Infinity ? '' : `if (at - start > ${packetLimit}) stream.refuse(at - start, ${packetLimit});`}`,
      size: 'at - start',
    },
    // Of the values that the emitter has read.
    ((stream: EventStream, substream: number | bigint, read: readonly unknown[]) => {
      recordTaken(stream, substream, description, takeValues(names, read));
    }) as unknown as EventEmitter,
  );
}
