import { core } from './addon.js';

/** Bytes of a large page. Hints for less would split the system's list of memory, for nothing. */
const LARGE_PAGE = 2 << 20;

/** Fresh memory, which the system is to map in large pages: to fill it takes a fraction of the time. */
export function inLargePages<T extends ArrayBufferLike>(memory: T): T {
  if (memory.byteLength >= LARGE_PAGE) core.useLargePages(new Uint8Array(memory));
  return memory;
}

/** Memory to be filled at once. It may have whatever was there before. */
export function newMemory(bytes: number): Uint8Array<ArrayBuffer> {
  const { buffer } = Buffer.allocUnsafeSlow(bytes);
  return new Uint8Array(inLargePages(buffer));
}
