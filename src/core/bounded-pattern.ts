import { core } from './addon.js';

/** V8's bits for the flags of an expression. `g` is always set. */
const FLAG_BITS: Readonly<Record<string, number>> = { g: 1, i: 2, m: 4, u: 16, s: 32, v: 256 };

/**
 * A global expression that gives up a search after `limit` steps back to another way of matching: `exec`
 * returns null then, as without a match.
 *
 * @param source a valid one.
 * @param flags a valid combination of `imsuv`.
 * @returns undefined where the JavaScript engine offers no such limit.
 */
export function boundedPattern(source: string, flags: string, limit: number): RegExp | undefined {
  let bits = FLAG_BITS['g']!;
  for (const flag of flags) bits |= FLAG_BITS[flag] ?? 0;
  return core.boundedPattern(source, bits, limit);
}
