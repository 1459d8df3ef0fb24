/**
 * Functions made from source text. A function with a text of its own has call sites of its own, so
 * each of them sees one target only and stays fast; one closure shared by all would not.
 */

let allowed: boolean | undefined;
let made = 0;

/** Whether the process may make functions from text (`--disallow-code-generation-from-strings`). */
export function mayCompile(): boolean {
  if (allowed === undefined) {
    try {
      new Function('');
      allowed = true;
    } catch {
      allowed = false;
    }
  }
  return allowed;
}

/**
 * Makes the function that `body` returns, with the entries of `scope` as its constants. `body` is
 * built from numbers and checked names only, never from text that a caller of the library chose.
 *
 * @param name shown in stack traces and profiles.
 */
export function compile(name: string, scope: Record<string, unknown>, body: string): unknown {
  made += 1;
  // Through UTF-8, which has no unpaired surrogates: those cannot be encoded.
  const shown = encodeURIComponent(Buffer.from(name.slice(0, 80)).toString());
  const text = `'use strict';\n${body}\n//# sourceURL=tracewright:${shown}/${made}`;
  const make = new Function(...Object.keys(scope), text) as (...values: unknown[]) => unknown;
  return make(...Object.values(scope));
}
