import { lstatSync, readFileSync } from 'node:fs';

/** Largest file of metadata that is read, in bytes. */
export const MAX_JSON_BYTES = 64 << 20;
/** Deepest nesting. Each level costs the parser dozens of bytes for one in the file. */
const MAX_JSON_DEPTH = 256;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Where the nesting becomes deeper than `limit`, in bytes; -1: nowhere. */
function tooDeepAt(bytes: Uint8Array, limit: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (quoted) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) {
      quoted = true;
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > limit) return at;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth--;
    }
  }
  return -1;
}

/**
 * Reads a file of JSON that somebody else may have written, in bounded memory and time.
 *
 * @throws Error that says why it is none: not a plain file, larger than `MAX_JSON_BYTES`, nested too
 *   deeply, or no JSON.
 */
export function readBoundedJson(path: string): unknown {
  const status = lstatSync(path);
  if (!status.isFile()) throw new Error('this is no plain file');
  if (status.size > MAX_JSON_BYTES) {
    throw new Error(`${status.size} bytes of metadata; at most ${MAX_JSON_BYTES} are read`);
  }
  const bytes = readFileSync(path);
  const deep = tooDeepAt(bytes, MAX_JSON_DEPTH);
  if (deep !== -1) {
    throw new Error(`the JSON is nested deeper than ${MAX_JSON_DEPTH} at byte ${deep}`);
  }
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch (error) {
    throw new Error(`this is not JSON: ${(error as Error).message}`, { cause: error });
  }
}
