import { compile, mayCompile } from '../../core/ring/compile.js';
import { commitText, ringScope } from '../../core/ring/emitter-text.js';
import type { Ring } from '../../core/ring/ring.js';
import type { Wide } from '../hexadecimal.js';
import {
  ADDRESS_OFFSET,
  LENGTH_OFFSET,
  LONGEST_REFERENCE_LINE,
  RECORD_BYTES,
  SPACE_OFFSET,
  TIMESTAMP_OFFSET,
  TYPE_OFFSET,
} from '../layout.js';
import { writeLine } from '../reference-lines.js';
import { checkReference } from '../reference-values.js';

/** Records one reference of a fixed type; see `References.load`. */
export type EmitReference = (
  timestamp: Wide | undefined,
  length: number,
  space: number,
  address: number,
) => void;

/** Records one reference of any type, which has been checked. */
export type EmitTyped = (
  type: number,
  timestamp: Wide | undefined,
  length: number,
  space: number,
  address: number,
) => void;

const TWO_TO_MINUS_32 = 2 ** -32;

/** Writes a binary record at `at`; its values have been checked. */
function writeRecord(
  view: DataView,
  at: number,
  little: boolean,
  type: number,
  timestamp: Wide,
  length: number,
  space: number,
  address: number,
): void {
  view.setUint8(at + TYPE_OFFSET, type);
  if (typeof timestamp === 'number') {
    const low = at + TIMESTAMP_OFFSET + (little ? 0 : 4);
    const high = at + TIMESTAMP_OFFSET + (little ? 4 : 0);
    // The low half is taken modulo 2^32.
    view.setUint32(low, timestamp, little);
    view.setUint32(high, Math.floor(timestamp * TWO_TO_MINUS_32), little);
  } else {
    view.setBigUint64(at + TIMESTAMP_OFFSET, timestamp, little);
  }
  view.setUint8(at + LENGTH_OFFSET, length);
  view.setUint32(at + SPACE_OFFSET, space, little);
  view.setUint32(at + ADDRESS_OFFSET, address, little);
}

/**
 * Makes what records references of any type as lines. It also serves where functions may not be
 * made from text.
 */
export function textEmitter(ring: Ring): EmitTyped {
  return (type, timestamp, length, space, address) => {
    checkReference(timestamp, length, space, address);
    if (ring.free < LONGEST_REFERENCE_LINE && !ring.makeRoom(LONGEST_REFERENCE_LINE)) return;
    if (timestamp === undefined) ring.readStamp();
    const at = ring.position;
    const when = timestamp ?? ring.stamp[0]!;
    ring.advance(writeLine(ring.bytes, at, type, when, length, space, address) - at);
    ring.commit();
  };
}

/** Makes what records references of any type in binary, without making a function from text. */
export function binaryEmitter(ring: Ring, little: boolean): EmitTyped {
  return (type, timestamp, length, space, address) => {
    checkReference(timestamp, length, space, address);
    if (ring.free < RECORD_BYTES && !ring.makeRoom(RECORD_BYTES)) return;
    if (timestamp === undefined) ring.readStamp();
    const when = timestamp ?? ring.stamp[0]!;
    writeRecord(ring.view, ring.position, little, type, when, length, space, address);
    ring.advance(RECORD_BYTES);
    ring.commit();
  };
}

/**
 * Makes the function that records references of one type in binary. Kept short: V8 inlines no
 * function of more than 460 bytes of bytecode. A store rounds its value down by itself.
 *
 * @param type undefined: the function takes it as its first argument.
 */
function compiledEmitter(
  ring: Ring,
  little: boolean,
  name: string,
  type: number | undefined,
  emitAny: EmitTyped,
): unknown {
  const first = type === undefined ? 'type, ' : '';
  const typed = type ?? 'type';
  const low = TIMESTAMP_OFFSET + (little ? 0 : 4);
  const high = TIMESTAMP_OFFSET + (little ? 4 : 0);
  const body = `return function ${name}(${first}timestamp, length, space, address) {
  if (!(
    typeof timestamp === 'number' && timestamp >= 0 && timestamp <= ${Number.MAX_SAFE_INTEGER} &&
    Math.floor(timestamp) === timestamp &&
    typeof length === 'number' && (length & 255) === length &&
    typeof space === 'number' && space >>> 0 === space &&
    typeof address === 'number' && address >>> 0 === address
  )) return emitAny(${typed}, timestamp, length, space, address);
  if (ring.free < ${RECORD_BYTES} && !ring.makeRoom(${RECORD_BYTES})) return;
  const at = ring.position;
  view.setUint8(at, ${typed});
  view.setUint32(at + ${low}, timestamp, ${little});
  view.setUint32(at + ${high}, timestamp * ${TWO_TO_MINUS_32}, ${little});
  view.setUint8(at + ${LENGTH_OFFSET}, length);
  view.setUint32(at + ${SPACE_OFFSET}, space, ${little});
  view.setUint32(at + ${ADDRESS_OFFSET}, address, ${little});
  ${commitText(ring, 'at', RECORD_BYTES)}
};`;
  return compile(`laplace ${name}`, { ...ringScope(ring), emitAny }, body);
}

/** What one reference trace records with. */
export interface ReferenceEmitters {
  any: EmitTyped;
  /** Makes the emitter of one type, under a name for stack traces. */
  ofType(name: string, type: number): EmitReference;
}

/** The emitters of a trace in its form. */
export function referenceEmitters(
  ring: Ring,
  form: 'binary' | 'text',
  little: boolean,
): ReferenceEmitters {
  const plain = form === 'text' ? textEmitter(ring) : binaryEmitter(ring, little);
  if (form === 'text' || !mayCompile()) {
    return {
      any: plain,
      ofType: (_, type) => (timestamp, length, space, address) => {
        plain(type, timestamp, length, space, address);
      },
    };
  }
  return {
    any: compiledEmitter(ring, little, 'reference', undefined, plain) as EmitTyped,
    ofType: (name, type) => compiledEmitter(ring, little, name, type, plain) as EmitReference,
  };
}
