/** What an object or array costs beside its contents, and what anything else of a fixed size does. */
const OBJECT_BYTES = 8;
const NUMBER_BYTES = 8;

/**
 * Bytes of a message between threads: of its texts (UTF-16 or Latin-1 alike, 1 each), numbers, buffers
 * and views, keys, and 8 for each object. It is the same for a message and for its structured clone,
 * so that both ends agree without telling each other; V8's serialised form differs a little from it.
 * What is in a message more than once counts once.
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
    default:
      return message === null ? 1 : sizeOfObjects(message as object);
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

/** What an object takes beside the objects in it, which are left for later. */
function sizeOfOne(each: object, left: object[]): number {
  // Most messages are such objects: no need to ask for everything else that they might be.
  if (Reflect.getPrototypeOf(each) === Object.prototype) return sizeOfProperties(each, left);
  if (ArrayBuffer.isView(each)) return OBJECT_BYTES + each.byteLength;
  if (each instanceof ArrayBuffer || each instanceof SharedArrayBuffer) {
    return OBJECT_BYTES + each.byteLength;
  }
  let bytes = OBJECT_BYTES;
  if (each instanceof Map) {
    for (const [key, value] of each) bytes += sizeOrLeave(key, left) + sizeOrLeave(value, left);
  } else if (each instanceof Set) {
    for (const value of each) bytes += sizeOrLeave(value, left);
  } else if (each instanceof Error) {
    // Clones lack what the program has added to an error.
    bytes += each.message.length;
  } else if (Array.isArray(each)) {
    for (const value of each) bytes += sizeOrLeave(value, left);
  } else {
    return sizeOfProperties(each, left);
  }
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
