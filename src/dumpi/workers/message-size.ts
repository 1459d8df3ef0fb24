import { Blob } from 'node:buffer';
import { ReadableStream } from 'node:stream/web';
import { types } from 'node:util';
import { MessagePort } from 'node:worker_threads';
import { byteLengthOf } from '../../core/typed-array.js';

/** Bytes of an object or array without its contents, and of anything else of a fixed size. */
const OBJECT_BYTES = 8;
const NUMBER_BYTES = 8;
/** Longer arrays are mostly holes: only what is in them counts. */
const LONGEST_DENSE = 2 ** 22;

/**
 * Bytes of a message between threads: of its texts (UTF-16 or Latin-1 alike, 1 each), numbers, buffers
 * and views, keys, and 8 for each object. It is the same for a message and for its structured clone,
 * so that both ends agree without telling each other: it looks only at what a clone keeps, whichever
 * realm an object is of and whatever its class overrides. V8's serialised form differs a little from
 * it. What is in a message more than once counts once. Objects of Node (ports, blobs, keys) count 8.
 */
export function messageSize(message: unknown): number {
  switch (typeof message) {
    case 'number':
      return NUMBER_BYTES;
    case 'string':
      return message.length;
    case 'boolean':
    case 'undefined':
      return 1;
    case 'bigint':
      return bigintBytes(message);
    case 'object':
      return message === null ? 1 : sizeOfObjects(message);
    default:
      // A function or symbol cannot be sent.
      return 0;
  }
}

function bigintBytes(value: bigint): number {
  return NUMBER_BYTES * Math.ceil((value < 0n ? -value : value).toString(16).length / 16);
}

/** Without recursion, for a message may be a long list; most hold nothing that holds anything. */
function sizeOfObjects(root: object): number {
  const left: object[] = [];
  let bytes = sizeOfOne(root, left);
  if (left.length === 0) return bytes;
  const seen = new Set<object>([root]);
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    if (seen.has(each)) continue;
    seen.add(each);
    bytes += sizeOfOne(each, left);
  }
  return bytes;
}

type Getter = (this: unknown) => number;

function getterOf(prototype: object, name: string): Getter {
  return (Object.getOwnPropertyDescriptor(prototype, name) as { get: Getter }).get;
}

// Those that read what is inside of an object, of any realm; a class may have put others in front.
const bytesOfDataView = getterOf(DataView.prototype, 'byteLength');
const bytesOfBuffer = getterOf(ArrayBuffer.prototype, 'byteLength');
const bytesOfShared = getterOf(SharedArrayBuffer.prototype, 'byteLength');
type ForEach = (this: unknown, visit: (value: unknown, key: unknown) => void) => void;
// eslint-disable-next-line @typescript-eslint/unbound-method -- called by Reflect.apply alone
const forEachOfMap = Map.prototype.forEach as ForEach;
// eslint-disable-next-line @typescript-eslint/unbound-method -- called by Reflect.apply alone
const forEachOfSet = Set.prototype.forEach as ForEach;
// eslint-disable-next-line @typescript-eslint/unbound-method -- called by Reflect.apply alone
const textOfString = String.prototype.valueOf;

/** The symbols under which classes of Node say how they are sent. */
const sendingSymbols = [Blob.prototype, ReadableStream.prototype].flatMap((prototype) =>
  Object.getOwnPropertySymbols(prototype).filter(({ description }) =>
    /^messaging_(clone|transfer)_symbol$/.test(description ?? ''),
  ),
);

/** Whether Node sends an object in its own way, so that its properties do not say what it is. */
function isOfNode(each: object): boolean {
  return (
    each instanceof MessagePort ||
    each instanceof DOMException ||
    sendingSymbols.some((symbol) => symbol in each)
  );
}

/** Bytes of an object without the objects in it, which are left for later. */
function sizeOfOne(each: object, left: object[]): number {
  // Most messages are such objects: no need to ask for everything else that they might be.
  if (Reflect.getPrototypeOf(each) === Object.prototype) return sizeOfProperties(each, left);
  if (Array.isArray(each)) return sizeOfArray(each, left);
  if (ArrayBuffer.isView(each)) {
    return (
      OBJECT_BYTES +
      Reflect.apply(types.isDataView(each) ? bytesOfDataView : byteLengthOf, each, [])
    );
  }
  if (types.isArrayBuffer(each)) return OBJECT_BYTES + Reflect.apply(bytesOfBuffer, each, []);
  if (types.isSharedArrayBuffer(each)) return OBJECT_BYTES + Reflect.apply(bytesOfShared, each, []);
  let bytes = OBJECT_BYTES;
  if (types.isMap(each)) {
    const add = (value: unknown, key: unknown): void => {
      bytes += sizeOrLeave(key, left) + sizeOrLeave(value, left);
    };
    Reflect.apply(forEachOfMap, each, [add]);
    return bytes;
  }
  if (types.isSet(each)) {
    const add = (value: unknown): void => {
      bytes += sizeOrLeave(value, left);
    };
    Reflect.apply(forEachOfSet, each, [add]);
    return bytes;
  }
  if (types.isNativeError(each)) return OBJECT_BYTES + messageLength(each);
  if (types.isStringObject(each))
    return OBJECT_BYTES + Reflect.apply(textOfString, each, []).length;
  // Clones of these lack what the program has added to them.
  if (types.isDate(each) || types.isRegExp(each) || types.isBoxedPrimitive(each)) {
    return OBJECT_BYTES;
  }
  return isOfNode(each) ? OBJECT_BYTES : sizeOfProperties(each, left);
}

/** Of an error a clone has its own message, as a text whatever it was. */
function messageLength(error: Error): number {
  const message = Object.getOwnPropertyDescriptor(error, 'message');
  return message !== undefined && 'value' in message ? String(message.value).length : 0;
}

function sizeOfArray(each: readonly unknown[], left: object[]): number {
  if (each.length > LONGEST_DENSE) return sizeOfProperties(each, left);
  let bytes = OBJECT_BYTES;
  // By index, for a class may go through its own in another way.
  for (let i = 0; i < each.length; i++) bytes += sizeOrLeave(each[i], left);
  return bytes;
}

function sizeOfProperties(each: object, left: object[]): number {
  let bytes = OBJECT_BYTES;
  for (const key of Object.keys(each)) {
    bytes += key.length + sizeOrLeave((each as Record<string, unknown>)[key], left);
  }
  return bytes;
}

function sizeOrLeave(value: unknown, left: object[]): number {
  if (typeof value !== 'object' || value === null) return messageSize(value);
  left.push(value);
  return 0;
}
