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

/** Without recursion, for a message may be a long list. */
function sizeOfObjects(root: object): number {
  const seen = new Set<object>([root]);
  const left: object[] = [root];
  let bytes = 0;
  const add = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) {
      bytes += messageSize(value);
    } else if (!seen.has(value)) {
      seen.add(value);
      left.push(value);
    }
  };
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    bytes += OBJECT_BYTES;
    if (ArrayBuffer.isView(each)) {
      bytes += each.byteLength;
    } else if (each instanceof ArrayBuffer || each instanceof SharedArrayBuffer) {
      bytes += each.byteLength;
    } else if (each instanceof Map) {
      for (const [key, value] of each) {
        add(key);
        add(value);
      }
    } else if (each instanceof Set) {
      for (const value of each) add(value);
    } else if (each instanceof Error) {
      // Clones lack what the program has added to an error.
      bytes += each.message.length;
    } else if (Array.isArray(each)) {
      for (const value of each) add(value);
    } else {
      for (const [key, value] of Object.entries(each)) {
        bytes += key.length;
        add(value);
      }
    }
  }
  return bytes;
}
