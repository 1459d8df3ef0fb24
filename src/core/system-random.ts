import { core } from './addon.js';

/** Fills at most 256 bytes from the operating system's generator; false when it has none. */
export function systemRandom(to: Uint8Array): boolean {
  return core.systemRandom(to);
}
