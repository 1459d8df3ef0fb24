import { core } from './addon.js';

/** Fresh memory, which the system is to map in large pages: to fill it takes a fraction of the time. */
export function inLargePages<T extends ArrayBufferLike>(memory: T): T {
  core.useLargePages(new Uint8Array(memory));
  return memory;
}

/** Memory to be filled at once. It may have whatever was there before. */
export function newMemory(bytes: number): Uint8Array<ArrayBuffer> {
  const { buffer } = Buffer.allocUnsafeSlow(bytes);
  return new Uint8Array(inLargePages(buffer));
}
