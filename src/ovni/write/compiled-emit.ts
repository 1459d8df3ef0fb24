import { LITTLE } from '../../core/byte-order.js';
import { buildEmitter } from '../../core/ring/emitter-builder.js';
import { classNameOf, lengthOf } from '../../core/typed-array.js';
import {
  HEADER_BYTES,
  JUMBO_DATA_OFFSET,
  JUMBO_FLAG,
  JUMBO_LENGTH_BYTES,
  MAX_PAYLOAD_BYTES,
  PAYLOAD_OFFSET,
  payloadSizeCode,
} from '../layout.js';
import { emitJumboTo, emitTo, usualHeader } from './emit.js';
import type { StreamWriter } from './stream-writer.js';

/** An MCV, a payload or data, and a clock. */
type Emit<Data> = (mcv: string, data: Data, clock?: bigint) => void;

/** Most events repeat the MCV before them, so one is remembered. */
const REMEMBERED_HEADER = `let lastMcv = '';
let lastHeader = 0;
function lookUp(mcv) {
  const found = usualHeader(mcv);
  if (found !== 0) {
    lastMcv = mcv;
    lastHeader = found;
  }
  return found;
}`;
const FIND_HEADER = 'const header = mcv === lastMcv ? lastHeader : lookUp(mcv);';

/**
 * Makes the function that writes normal events to `stream`.
 *
 * @see emit in index.ts, which states the contract.
 */
export function compileEmit(stream: StreamWriter): Emit<Uint8Array | undefined> {
  return buildEmitter<[string, Uint8Array | undefined, bigint?]>(
    stream,
    {
      name: 'emit',
      parameters: ['mcv', 'payload', 'clock'],
      functions: REMEMBERED_HEADER,
      prepare: `${FIND_HEADER}
  let count = 0;`,
      // An empty array may be a detached one. V8 inlines the length of what has an element.
      test: `clock === undefined && header !== 0 && (payload === undefined ||
    classNameOf.call(payload) === 'Uint8Array' && payload[0] !== undefined &&
    (count = lengthOf.call(payload)) <= ${MAX_PAYLOAD_BYTES} && count !== 1)`,
      bytes: `${HEADER_BYTES} + count`,
      // A call to copy so few bytes would cost more than their loads do.
      write: `if (count === 0) view.setUint32(start, header, true);
  else {
    view.setUint32(start, header | count - 1, true);
    let i = 0;
    for (; i + 4 <= count; i += 4) {
      const word = payload[i] | payload[i + 1] << 8 | payload[i + 2] << 16 | payload[i + 3] << 24;
      view.setInt32(start + i + ${PAYLOAD_OFFSET}, word, true);
    }
    for (; i < count; i++) bytes[start + i + ${PAYLOAD_OFFSET}] = payload[i];
  }`,
      size: `${HEADER_BYTES} + count`,
      scope: { classNameOf, lengthOf, usualHeader },
    },
    (mcv, payload, clock) => {
      emitTo(stream, mcv, payload, clock);
    },
  );
}

/**
 * Makes the function that writes jumbo events to `stream`.
 *
 * @see emitJumbo in index.ts, which states the contract.
 */
export function compileEmitJumbo(stream: StreamWriter): Emit<Uint8Array> {
  return buildEmitter<[string, Uint8Array, bigint?]>(
    stream,
    {
      name: 'emitJumbo',
      parameters: ['mcv', 'data', 'clock'],
      functions: REMEMBERED_HEADER,
      prepare: `${FIND_HEADER}
  let count;`,
      test: `clock === undefined && header !== 0 && classNameOf.call(data) === 'Uint8Array' &&
    data[0] !== undefined && (count = lengthOf.call(data)) <= longestData`,
      bytes: `${JUMBO_DATA_OFFSET} + count`,
      write: `view.setUint32(start, header | ${JUMBO_FLAG | payloadSizeCode(JUMBO_LENGTH_BYTES)}, true);
  view.setUint32(start + ${PAYLOAD_OFFSET}, count, ${LITTLE});
  bytes.set(data, start + ${JUMBO_DATA_OFFSET});`,
      size: `${JUMBO_DATA_OFFSET} + count`,
      scope: ({ longestRecord }) => ({
        classNameOf,
        lengthOf,
        usualHeader,
        longestData: longestRecord - JUMBO_DATA_OFFSET,
      }),
    },
    (mcv, data, clock) => {
      emitJumboTo(stream, mcv, data, clock);
    },
  );
}
