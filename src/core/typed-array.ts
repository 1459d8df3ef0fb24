/**
 * The getters of typed arrays themselves, whichever properties an object or its class has put in front:
 * natively written lengths must not come from a program's getter.
 */
const prototype = Reflect.getPrototypeOf(Uint8Array.prototype)!;

type Getter<T> = (this: unknown) => T;

function getterOf(name: string | symbol): unknown {
  return Reflect.get(Object.getOwnPropertyDescriptor(prototype, name)!, 'get');
}

/** Elements; 0 of an array whose buffer is detached. */
export const lengthOf = getterOf('length') as Getter<number>;
export const byteLengthOf = getterOf('byteLength') as Getter<number>;
export const byteOffsetOf = getterOf('byteOffset') as Getter<number>;
export const bufferOf = getterOf('buffer') as Getter<ArrayBufferLike>;
/** The name of the built-in class; undefined of what is no typed array, such as a proxy of one. */
export const classNameOf = getterOf(Symbol.toStringTag) as Getter<string | undefined>;

const keysOf = Reflect.get(prototype, 'keys') as Getter<unknown>;

/**
 * Whether the memory of a typed array is gone: its buffer is detached, or was resized to less than
 * the array begins at. Such an array says that it is empty.
 */
export function isDetached(array: ArrayBufferView): boolean {
  if (byteLengthOf.call(array) !== 0) return false;
  try {
    keysOf.call(array);
    return false;
  } catch {
    return true;
  }
}

/** A copy of a typed array that no other thread can change, if its memory is shared. */
export function unshared<T extends Uint8Array | Uint32Array | Float64Array | BigUint64Array>(
  array: T,
): T {
  if (!(bufferOf.call(array) instanceof SharedArrayBuffer)) return array;
  const Class = globalThis[classNameOf.call(array) as 'Uint8Array'];
  return new Class(array as Uint8Array) as T;
}
