import { buildEmitter } from '../../core/ring/emitter-builder.js';
import type { RingOwner } from '../../core/ring/emitter-builder.js';
import type { Ring } from '../../core/ring/ring.js';
import { putHex, putHex32 } from '../hexadecimal.js';
import type { Wide } from '../hexadecimal.js';
import {
  ADDRESS_OFFSET,
  LENGTH_OFFSET,
  LONGEST_REFERENCE_LINE,
  NEWLINE,
  RECORD_BYTES,
  SPACE,
  SPACE_OFFSET,
  TIMESTAMP_OFFSET,
  TYPE_OFFSET,
} from '../layout.js';
import type { ReferenceForm } from '../layout.js';
import { writeLine } from '../reference-lines.js';
import { checkReference } from '../reference-values.js';
import { storeInt64 } from '../../core/int64.js';

/** Records a reference of a fixed type; see `References.load`. */
export type EmitReference = (
  timestamp: Wide | undefined,
  length: number,
  space: number,
  address: number,
) => void;

/** Records a reference of any type, which was checked. */
export type EmitTyped = (
  type: number,
  timestamp: Wide | undefined,
  length: number,
  space: number,
  address: number,
) => void;

const TWO_TO_MINUS_32 = 2 ** -32;

/** The emitter of a form that takes every case. */
function plainEmitter(ring: Ring, { bytes: bound, plain }: Form): EmitTyped {
  return (type, timestamp, length, space, address) => {
    checkReference(timestamp, length, space, address);
    if (ring.free < bound && !ring.makeRoom(bound)) return;
    if (timestamp === undefined) ring.readStamp();
    ring.advance(plain(ring, type, timestamp ?? ring.stamp[0]!, length, space, address));
    ring.commit();
  };
}

/** A form of references. */
interface Form {
  /** Most bytes of a reference. */
  bytes: number;
  /** Writes checked values at the ring's position and returns the bytes they take. */
  plain: (
    ring: Ring,
    type: number,
    timestamp: Wide,
    length: number,
    space: number,
    address: number,
  ) => number;
  /** Statements that write a reference with usual values at `start`. */
  write(type: number | 'type', timestamp: string): string;
  size?: string;
}

function binaryForm(little: boolean): Form {
  const low = TIMESTAMP_OFFSET + (little ? 0 : 4);
  const high = TIMESTAMP_OFFSET + (little ? 4 : 0);
  return {
    bytes: RECORD_BYTES,
    plain: ({ view, position: at }, type, timestamp, length, space, address) => {
      view.setUint8(at + TYPE_OFFSET, type);
      storeInt64(view, at + TIMESTAMP_OFFSET, timestamp, little);
      view.setUint8(at + LENGTH_OFFSET, length);
      view.setUint32(at + SPACE_OFFSET, space, little);
      view.setUint32(at + ADDRESS_OFFSET, address, little);
      return RECORD_BYTES;
    },
    // A store rounds its value down by itself, and takes it modulo 2^32.
    write: (type, timestamp) => `view.setUint8(start + ${TYPE_OFFSET}, ${type});
  view.setUint32(start + ${low}, ${timestamp}, ${little});
  view.setUint32(start + ${high}, ${timestamp} * ${TWO_TO_MINUS_32}, ${little});
  view.setUint8(start + ${LENGTH_OFFSET}, length);
  view.setUint32(start + ${SPACE_OFFSET}, space, ${little});
  view.setUint32(start + ${ADDRESS_OFFSET}, address, ${little});`,
  };
}

const lineForm: Form = {
  bytes: LONGEST_REFERENCE_LINE,
  plain: ({ bytes, position }, type, timestamp, length, space, address) =>
    writeLine(bytes, position, type, timestamp, length, space, address) - position,
  write: (type, timestamp) => `view.setUint16(start, ${type} << 8 | ${SPACE});
  let at = putHex(view, start + 2, ${timestamp});
  ${['length', 'space', 'address']
    .map((value) => `view.setUint8(at, ${SPACE});\n  at = putHex32(view, at + 1, ${value});`)
    .join('\n  ')}
  view.setUint8(at, ${NEWLINE});`,
  size: 'at + 1 - start',
};

const USUAL_VALUES = `typeof length === 'number' && (length & 255) === length &&
    typeof space === 'number' && space >>> 0 === space &&
    typeof address === 'number' && address >>> 0 === address`;

/** The test of {@link isExact} as source text, without a call. */
const USUAL_TIMESTAMP = `typeof timestamp === 'number' && timestamp >= 0 &&
    timestamp <= ${Number.MAX_SAFE_INTEGER} && Math.floor(timestamp) === timestamp`;

/**
 * Makes the function that records references of one type. A reference by the clock has an emitter of
 * its own, so that each is small enough for V8 to inline it.
 *
 * @param type undefined: the function takes it as its first argument.
 */
function compiledEmitter(
  owner: RingOwner,
  form: Form,
  name: string,
  type: number | undefined,
  plain: EmitTyped,
): unknown {
  const { bytes, size } = form;
  const values = [...(type === undefined ? ['type'] : []), 'length', 'space', 'address'];
  const parameters = [
    ...(type === undefined ? ['type'] : []),
    'timestamp',
    'length',
    'space',
    'address',
  ];
  const withType = (given: number[]): [number, number, number, number] =>
    (type === undefined ? given : [type, ...given]) as [number, number, number, number];
  const recordNow = buildEmitter<number[]>(
    owner,
    {
      bytes,
      size,
      name: `laplace ${name} by the clock`,
      parameters: values,
      scope: ({ readStamp }) => ({ readStamp, putHex, putHex32 }),
      test: USUAL_VALUES,
      write: `readStamp();
  const now = stamp[0];
  ${form.write(type ?? 'type', 'now')}`,
    },
    (...given) => {
      const [typed, length, space, address] = withType(given);
      plain(typed, undefined, length, space, address);
    },
  );
  return buildEmitter<unknown[]>(
    owner,
    {
      bytes,
      size,
      name: `laplace ${name}`,
      parameters,
      scope: { recordNow, putHex, putHex32 },
      test: `${USUAL_TIMESTAMP} &&
    ${USUAL_VALUES}`,
      write: form.write(type ?? 'type', 'timestamp'),
      entry: {
        parameters,
        prepare: `if (timestamp === undefined) return recordNow(${values.join(', ')});`,
        plainArguments: parameters,
      },
    },
    type === undefined
      ? (plain as (...given: unknown[]) => void)
      : (...given) => {
          (plain as (...all: unknown[]) => void)(type, ...given);
        },
  );
}

/** The emitters of one reference trace. */
interface ReferenceEmitters {
  any: EmitTyped;
  /** Makes the emitter of one type, under a name for stack traces. */
  ofType(name: string, type: number): EmitReference;
}

/** Makes the emitters of a trace in its form. */
export function referenceEmitters(
  owner: RingOwner,
  form: ReferenceForm,
  little: boolean,
): ReferenceEmitters {
  const text = form === 'text' ? lineForm : binaryForm(little);
  const plain = plainEmitter(owner.ring, text);
  return {
    any: compiledEmitter(owner, text, 'reference', undefined, plain) as EmitTyped,
    ofType: (name, type) => compiledEmitter(owner, text, name, type, plain) as EmitReference,
  };
}
