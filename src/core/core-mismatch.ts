import type { NativeCore } from './native-core.js';
import { plainCore } from './plain-core.js';

/**
 * Why an addon does not fit this code: an older binary next to newer files, for example. Undefined: it
 * fits.
 */
export function mismatchOf(addon: object): string | undefined {
  const found = addon as Partial<NativeCore>;
  const expected = plainCore();
  if (found.interface !== expected.interface) {
    return `its interface is ${found.interface ?? 'older than 1'}, and must be ${expected.interface}`;
  }
  for (const name of Object.keys(expected) as (keyof NativeCore)[]) {
    if (typeof found[name] !== typeof expected[name]) return `it has no ${name}`;
  }
  for (const [name, offset] of Object.entries(expected.control)) {
    if (found.control?.[name as keyof NativeCore['control']] !== offset) {
      return `its rings have ${name} elsewhere`;
    }
  }
  return undefined;
}
