import { buildEmitter } from '../../core/ring/emitter-builder.js';
import { constantStores, prefixed } from './constant-bytes.js';
import { writeHead, writeInteger, writeText, writeUntyped } from './encoder.js';
import {
  DESCRIPTION_OFFSET,
  SIZE_OFFSET,
  SUBSTREAM_OFFSET,
  TYPE_STRING,
  TYPE_U64,
} from '../layout.js';
import { recordTaken } from './record-taken.js';
import type { Stream } from './stream.js';
import type { TakenAttributes } from './taken-attributes.js';
import type { Trace } from './trace.js';

/** Records an event that began at `trace.started[0]`. */
export type EventEmitter = (
  stream: Stream,
  substream: number | bigint,
  taken: TakenAttributes,
) => void;

/** Events that a shape needs before its emitter is compiled. */
const SEEN_BEFORE_COMPILE = 50;
/** Compiling takes as long as some hundred events without an emitter: so many pay for it. */
const EVENTS_A_COMPILE = 1000;
/** What is compiled at once, before events have paid for it. */
const COMPILED_AT_FIRST = 64;
/** Shapes of one description, such as several orders of the same names. */
const MAX_SHAPES = 4;
/** Descriptions in a generation of those that have emitters; there are two generations. */
const GENERATION = 128;
/** Places for descriptions that are counted and have no emitter: a power of two. */
const CANDIDATES = 256;
/** Bounds of the constants in an emitter. */
const MAX_NAMES = 32;
const MAX_CONSTANT_BYTES = 2048;

/** A description, and names of attributes in their order. The types of the values can change. */
class EventShape {
  emitter: EventEmitter | undefined;
  readonly #description: string;
  readonly #names: readonly string[];
  #seen = 0;

  constructor(description: string, names: readonly string[]) {
    this.#description = description;
    this.#names = names;
  }

  fits({ names, count }: TakenAttributes): boolean {
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

  compile(trace: Trace): void {
    this.emitter = compileShape(trace, this.#description, this.#names);
    // One that cannot be compiled is not tried again.
    if (this.emitter === undefined) this.#seen = -Infinity;
  }
}

/** A description that may become frequent. */
interface Candidate {
  description: string;
  shapes: EventShape[];
}

/** Where a candidate is kept. A map would take longer than it saves: most descriptions are rare. */
function placeOf(description: string): number {
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
export class EventShapes {
  readonly #trace: Trace;
  #young = new Map<string, EventShape[]>();
  #old = new Map<string, EventShape[]>();
  readonly #candidates = new Array<Candidate | undefined>(CANDIDATES).fill(undefined);
  /** The description that last came to each place, if it is not the candidate's. */
  readonly #latest = new Array<string>(CANDIDATES).fill('');
  #credit = COMPILED_AT_FIRST * EVENTS_A_COMPILE;

  constructor(trace: Trace) {
    this.#trace = trace;
  }

  /** The emitter for an event with usual values; undefined if it is rare. */
  emitterFor(description: string, taken: TakenAttributes): EventEmitter | undefined {
    const shapes = this.#young.get(description);
    if (shapes === undefined) return this.#otherEmitterFor(description, taken);
    for (const shape of shapes) if (shape.fits(taken)) return shape.emitter ?? this.#count(shape);
    this.#add(shapes, description, taken);
    return undefined;
  }

  #otherEmitterFor(description: string, taken: TakenAttributes): EventEmitter | undefined {
    const old = this.#old.get(description);
    if (old !== undefined) {
      this.#keep(description, old);
      return this.emitterFor(description, taken);
    }
    this.#credit += 1;
    if (description.length > MAX_CONSTANT_BYTES) return undefined;
    const place = placeOf(description);
    const candidate = this.#candidates[place];
    if (candidate?.description !== description) {
      this.#nominate(place, description, taken);
      return undefined;
    }
    const { shapes } = candidate;
    const shape = shapes.find((each) => each.fits(taken));
    if (shape === undefined) {
      this.#add(shapes, description, taken);
      return undefined;
    }
    const emitter = this.#count(shape);
    if (emitter === undefined) return undefined;
    this.#candidates[place] = undefined;
    this.#keep(description, shapes);
    return emitter;
  }

  /** A description becomes the candidate of its place when it comes twice in a row. */
  #nominate(place: number, description: string, taken: TakenAttributes): void {
    if (this.#latest[place] === description) {
      const shapes: EventShape[] = [];
      this.#add(shapes, description, taken);
      this.#candidates[place] = { description, shapes };
    } else {
      this.#latest[place] = description;
    }
  }

  #add(shapes: EventShape[], description: string, { names, count }: TakenAttributes): void {
    if (shapes.length >= MAX_SHAPES || count > MAX_NAMES) return;
    const own = names.slice(0, count);
    // Names that are not valid are among the longer ones.
    if (own.some((name) => name.length > MAX_CONSTANT_BYTES)) return;
    shapes.push(new EventShape(description, own));
  }

  #count(shape: EventShape): EventEmitter | undefined {
    if (!shape.isFrequent() || this.#credit < EVENTS_A_COMPILE) return undefined;
    this.#credit -= EVENTS_A_COMPILE;
    shape.compile(this.#trace);
    return shape.emitter;
  }

  #keep(description: string, shapes: EventShape[]): void {
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(description, shapes);
  }
}

/** Statements: store a value and its type, and move `at` past them. */
function writeValueAt(index: number): string {
  return `value = values[${index}];
  if (typeof value === 'string') {
    view.setUint8(at, ${TYPE_STRING});
    at = writeText(view, bytes, at + 1, value);
  } else if (typeof value === 'number' && value >>> 0 === value) {
    view.setUint8(at, ${TYPE_U64});
    view.setUint32(at + 1, 0);
    view.setUint32(at + 5, value);
    at += 9;
  } else {
    at = writeUntyped(view, bytes, at, value);
  }`;
}

/** Undefined for a shape whose constants would be long. */
function compileShape(
  trace: Trace,
  description: string,
  names: readonly string[],
): EventEmitter | undefined {
  const texts = [prefixed(description), ...names.map(prefixed)];
  if (Buffer.concat(texts).length > MAX_CONSTANT_BYTES) return undefined;
  // The description and the first attribute's name are adjacent: one run of constants.
  const runs = names.length === 0 ? texts : [Buffer.concat(texts.slice(0, 2)), ...texts.slice(2)];
  const { packetLimit, ring } = trace;
  const fixedBytes = DESCRIPTION_OFFSET + Buffer.concat(texts).length;
  const write = runs.flatMap((run, i) => [
    ...constantStores(run, 'at'),
    `at += ${run.length};`,
    ...(names.length === 0 ? [] : [writeValueAt(i)]),
  ]);
  return buildEmitter<Parameters<EventEmitter>>(
    trace,
    {
      name: description,
      parameters: ['stream', 'substream', 'taken'],
      scope: { started: trace.started, writeHead, writeInteger, writeText, writeUntyped },
      test: `taken.areUsual && taken.valuesBound <= ${ring.longestRecord - fixedBytes}`,
      bytes: `${fixedBytes} + taken.valuesBound`,
      write: `const { counter } = stream;
  const number = counter[0];
  counter[0] = number + 1;
  writeHead(view, start, stream.id, number, started[0]);
  writeInteger(view, start + ${SUBSTREAM_OFFSET}, substream);
  const { values } = taken;
  let at = start + ${DESCRIPTION_OFFSET};
  let value;
  ${write.join('\n  ')}
  view.setUint32(start + ${SIZE_OFFSET}, at - start);
  ${packetLimit === Infinity ? '' : `if (at - start > ${packetLimit}) stream.refuse(at - start, ${packetLimit});`}`,
      size: 'at - start',
    },
    (stream, substream, taken) => {
      recordTaken(stream, substream, description, taken);
    },
  );
}
