import { HIGH_HALF, LITTLE, LOW_HALF } from '../../core/byte-order.js';
import { integerIn } from '../../core/options/argument.js';
import { buildEmitter } from '../../core/ring/emitter-builder.js';
import { outOfRange, wrongType } from '../../core/errors.js';
import { emitJumboTo, emitTo, isFollowed } from './emit.js';
import {
  HEADER_BYTES,
  headerOf,
  MAX_LABEL_BYTES,
  PAYLOAD_OFFSET,
  payloadSizeCode,
} from '../layout.js';
import { argumentBytes, resolveSignature } from '../signature.js';
import type { Argument, Arguments, ArgumentType, Signature } from '../signature.js';
import { declarationOf } from '../catalog.js';
import type { DeclaredMcv } from '../catalog.js';
import type { StreamWriter } from './stream-writer.js';
import { checkInt64, storeInt64 } from '../../core/int64.js';

type NarrowType = Exclude<ArgumentType, 'u64' | 'i64' | 'str'>;

/** For each narrow type: its range, and the DataView method that writes it. */
const NARROW: Readonly<Record<NarrowType, { low: number; high: number; set: string }>> = {
  u8: { low: 0, high: 0xff, set: 'setUint8' },
  i8: { low: -0x80, high: 0x7f, set: 'setInt8' },
  u16: { low: 0, high: 0xffff, set: 'setUint16' },
  i16: { low: -0x8000, high: 0x7fff, set: 'setInt16' },
  u32: { low: 0, high: 0xffff_ffff, set: 'setUint32' },
  i32: { low: -0x8000_0000, high: 0x7fff_ffff, set: 'setInt32' },
};

type Setter = (at: number, value: number, little: boolean) => void;

function checkArgument({ name, type }: Argument, value: unknown): void {
  if (type === 'u64' || type === 'i64') {
    checkInt64(name, value, type);
  } else if (type === 'str') {
    const limit = 'a string without NUL';
    if (typeof value !== 'string') throw wrongType(name, value, limit);
    if (value.includes('\0')) throw outOfRange(name, value, limit);
  } else {
    const { low, high } = NARROW[type];
    integerIn(name, value, low, high);
  }
}

function checkArguments(signature: Signature, values: readonly unknown[]): void {
  signature.args.forEach((argument, i) => {
    checkArgument(argument, values[i]);
  });
}

function writeFixed(view: DataView, at: number, type: ArgumentType, value: unknown): void {
  if (type === 'u64' || type === 'i64') {
    storeInt64(view, at, value as number | bigint, LITTLE);
  } else if (type !== 'str') {
    const { set } = NARROW[type];
    (view as unknown as Record<string, Setter>)[set]!(at, value as number, LITTLE);
  }
}

function writeArguments(view: DataView, { args }: Signature, values: readonly unknown[]): void {
  args.forEach(({ type, offset }, i) => {
    writeFixed(view, offset, type, values[i]);
  });
}

/** Jumbo events are long and rare, so their emitter is not compiled. */
function jumboEmitter(stream: StreamWriter, signature: Signature) {
  const { args, mcv, payloadBytes } = signature;
  // In the emulator's models every text is a label.
  const longest = declarationOf(mcv) === undefined ? Infinity : MAX_LABEL_BYTES;
  return (...values: unknown[]): void => {
    checkArguments(signature, values);
    const last = args.at(-1)?.type === 'str' ? (values[args.length - 1] as string) : undefined;
    const text = last === undefined ? '' : `${last}\0`;
    const textBytes = Buffer.byteLength(text);
    if (textBytes - 1 > longest) {
      throw outOfRange(args.at(-1)!.name, last, `at most ${longest} bytes of UTF-8`);
    }
    const data = Buffer.alloc(payloadBytes + textBytes);
    const view = new DataView(data.buffer, data.byteOffset, data.length);
    writeArguments(view, signature, values);
    data.write(text, payloadBytes);
    emitJumboTo(stream, mcv, data, undefined, mcv);
  };
}

/** The emitter that takes every case. */
function plainEmitter(stream: StreamWriter, signature: Signature) {
  const { mcv, payloadBytes } = signature;
  const view = new DataView(new ArrayBuffer(payloadBytes));
  const payload = new Uint8Array(view.buffer);
  return (...values: unknown[]): void => {
    checkArguments(signature, values);
    writeArguments(view, signature, values);
    emitTo(stream, mcv, payload, undefined, mcv);
  };
}

/** The test of a usual argument. */
function quickTest(type: ArgumentType, name: string): string {
  switch (type) {
    case 'i32':
      return `(${name} | 0) === ${name}`;
    case 'u32':
      return `${name} >>> 0 === ${name}`;
    // Number.isSafeInteger would be a call.
    case 'u64':
      return `${name} >= 0 && ${name} <= ${Number.MAX_SAFE_INTEGER} && Math.floor(${name}) === ${name}`;
    case 'i64':
      return `${name} >= ${Number.MIN_SAFE_INTEGER} && ${name} <= ${Number.MAX_SAFE_INTEGER} && Math.floor(${name}) === ${name}`;
    case 'str':
      return 'false';
    default: {
      const { low, high } = NARROW[type];
      return `(${name} | 0) === ${name} && ${name} >= ${low} && ${name} <= ${high}`;
    }
  }
}

function write(argument: Argument, name: string): string {
  const { type } = argument;
  const at = `start + ${PAYLOAD_OFFSET + argument.offset}`;
  if (type === 'u64' || type === 'i64') {
    const low = `start + ${PAYLOAD_OFFSET + argument.offset + LOW_HALF}`;
    const high = `start + ${PAYLOAD_OFFSET + argument.offset + HIGH_HALF}`;
    // A store takes the low half modulo 2^32, of negative numbers too. The interpreter allocates the
    // product, so small integers avoid it. Each case has a store of its own: V8 would box a value that
    // one of them takes as an integer and the other as a double.
    return `view.setUint32(${low}, ${name}, ${LITTLE});
  if ((${name} | 0) === ${name}) view.setInt32(${high}, ${name} >> 31, ${LITTLE});
  else view.setInt32(${high}, Math.floor(${name} * ${2 ** -32}), ${LITTLE});`;
  }
  const { set } = NARROW[type as NarrowType];
  return argumentBytes[type as NarrowType] === 1
    ? `view.${set}(${at}, ${name});`
    : `view.${set}(${at}, ${name}, ${LITTLE});`;
}

/**
 * Makes the function that emits one kind of event to `stream`.
 *
 * @see event in index.ts, which states the contract.
 */
export function compileEvent<S extends DeclaredMcv | (string & {})>(
  stream: StreamWriter,
  text: S,
): (...values: Arguments<S>) => void {
  const signature = resolveSignature(text);
  if (signature.jumbo) return jumboEmitter(stream, signature);
  const header = headerOf(payloadSizeCode(signature.payloadBytes), signature.mcv);
  const bytes = HEADER_BYTES + signature.payloadBytes;
  const plain = plainEmitter(stream, signature);
  // These are rare, and the stream follows them.
  if (isFollowed(header)) return plain;
  const { args, mcv } = signature;
  const parameters = args.map((_, i) => `a${i}`);
  const tests = args.map(
    ({ type }, i) => `typeof a${i} === 'number' && ${quickTest(type, `a${i}`)}`,
  );
  return buildEmitter<Arguments<S>>(
    stream,
    {
      name: mcv,
      parameters,
      test: tests.length === 0 ? 'true' : tests.join(' && '),
      bytes,
      write: `view.setUint32(start, ${header >>> 0}, true);
  ${args.map((argument, i) => write(argument, `a${i}`)).join('\n  ')}`,
    },
    plain,
  );
}
