import type { ProfiledCode, StallCode } from '../shape/thread-shape.js';

/** What ran: `distance (lib/search.js:6)`, `native code below parse (orders.js:11)`. */
export function codeText({ function: name, line, isNative, caller }: StallCode): string {
  const where = shortScript(line);
  // The line at which a function goes on after native code is not that of the call.
  const at = isNative ? where.replace(/:\d+$/, '') : where;
  const code = name === null ? at : `${name} (${at})`;
  const from = caller === null ? '' : `, called at ${shortScript(caller)}`;
  return `${isNative ? 'native code below ' : ''}${code}${from}`;
}

/** What ran by the samples of a profile: `distance (lib/search.js:6)`, `(garbage collector)`. */
export function ranText({ function: name, line }: Pick<ProfiledCode, 'function' | 'line'>): string {
  if (line === '') return name ?? 'unknown code';
  return codeText({ function: name, line, isNative: false, caller: null });
}

/** A script by its last two names. */
export function shortScript(line: string): string {
  return line.startsWith('node:') ? line : line.split('/').slice(-2).join('/');
}
