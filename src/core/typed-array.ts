/**
 * What typed arrays themselves say, whichever properties an object or its class has put in front:
 * natively written lengths must not come from a program's getter.
 */
const prototype = Reflect.getPrototypeOf(Uint8Array.prototype)!;

type Getter<T> = (this: unknown) => T;

function getterOf(name: string): unknown {
  return Reflect.get(Object.getOwnPropertyDescriptor(prototype, name)!, 'get');
}

/** Elements; 0 of an array whose buffer is detached. */
export const lengthOf = getterOf('length') as Getter<number>;
export const byteLengthOf = getterOf('byteLength') as Getter<number>;
export const byteOffsetOf = getterOf('byteOffset') as Getter<number>;
export const bufferOf = getterOf('buffer') as Getter<ArrayBufferLike>;
