import { wrongType } from '../../core/errors.js';
import { isArray, takeBytes } from '../../core/taken-elements.js';
import { events } from '../catalog.js';
import { codeOf } from '../layout.js';
import { parseSignature } from '../signature.js';
import type { ArgumentType, Signature } from '../signature.js';
import type { StreamEvent } from './reader.js';

/** The arguments of an event by name: 64-bit integers as bigint, smaller ones as number. */
export type DecodedArguments = Record<string, number | bigint | string>;

const signatures = new Map<number, Signature>(
  Object.values(events).map(({ signature }) => {
    const parsed = parseSignature(signature);
    return [codeOf(parsed.mcv), parsed];
  }),
);

/** The signature of a declared event, by {@link StreamEvent.code}. */
export function signatureOf(code: number): Signature | undefined {
  return signatures.get(code);
}

function codeOfEvent(event: unknown): number {
  const code: unknown =
    typeof event === 'object' && event !== null ? (event as Partial<StreamEvent>).code : undefined;
  if (typeof code !== 'number') throw wrongType('event', event, 'an event from readStream');
  return code;
}

/**
 * Decodes the arguments of an event with the given signature, or with the one that the catalog has
 * for its MCV. Bytes after the last argument are ignored: events get more arguments from version to
 * version, and `VWC` has more values than it declares. A `str` without its NUL ends with the data.
 *
 * Undefined for an event that is not declared, whose payload is shorter than its signature, or that
 * is jumbo if the signature is not (or the reverse), and for data that was not read into memory.
 */
export function decodeArguments(
  event: StreamEvent,
  signature: Signature | undefined = signatures.get(codeOfEvent(event)),
): DecodedArguments | undefined {
  if (signature === undefined) return undefined;
  const args = argumentsOf(signature);
  codeOfEvent(event);
  if (args.length === 0) return {};
  if (signature.jumbo !== event.jumbo) return undefined;
  const given = event.jumbo ? event.data : event.payload;
  if (given === undefined) return undefined;
  const bytes = takeBytes('event', given);
  if (bytes.length < signature.payloadBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const decoded: DecodedArguments = {};
  for (const { type, name, offset } of args) {
    decoded[name] =
      type === 'str'
        ? decodeString(bytes, offset)
        : decodeNumber(view, type, offset, event.littleEndian);
  }
  return decoded;
}

function argumentsOf(signature: unknown): Signature['args'] {
  const isOne = typeof signature === 'object' && signature !== null && 'args' in signature;
  const args = isOne ? signature.args : undefined;
  if (!isArray(args)) throw wrongType('signature', signature, 'a signature from parseSignature');
  return args as Signature['args'];
}

function decodeNumber(
  view: DataView,
  type: Exclude<ArgumentType, 'str'>,
  offset: number,
  little: boolean,
): number | bigint {
  switch (type) {
    case 'u8':
      return view.getUint8(offset);
    case 'i8':
      return view.getInt8(offset);
    case 'u16':
      return view.getUint16(offset, little);
    case 'i16':
      return view.getInt16(offset, little);
    case 'u32':
      return view.getUint32(offset, little);
    case 'i32':
      return view.getInt32(offset, little);
    case 'u64':
      return view.getBigUint64(offset, little);
    case 'i64':
      return view.getBigInt64(offset, little);
  }
}

const utf8 = new TextDecoder();

function decodeString(bytes: Uint8Array, offset: number): string {
  const end = bytes.indexOf(0, offset);
  return utf8.decode(bytes.subarray(offset, end === -1 ? bytes.length : end));
}
