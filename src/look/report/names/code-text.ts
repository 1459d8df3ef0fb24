import type { ProfiledCode, StallCode } from '../shape/thread-shape.js';

/** As V8's profiler calls it. */
export const GARBAGE_COLLECTOR = '(garbage collector)';

/** A function, and where it begins. */
export type Code = Pick<ProfiledCode, 'function' | 'line'>;

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
export function ranText({ function: name, line }: Code): string {
  if (line === '') return name ?? 'unknown code';
  return codeText({ function: name, line, isNative: false, caller: null });
}

/** A function by where it begins, which is not the line that ran: `distance (lib/search.js from line 6)`. */
export function functionText(code: Code): string {
  return ranText({ ...code, line: code.line.replace(/:(\d+)$/, ' from line $1') });
}

/** Code as one text, from which {@link codeOfName} has it again. */
export function codeName({ function: name, line }: Code): string {
  return `${name ?? ''}\n${line}`;
}

export function codeOfName(text: string): Code {
  const [name = '', line = ''] = text.split('\n');
  return { function: name === '' ? null : name, line };
}

/** A script by its last two names. */
export function shortScript(line: string): string {
  return line.startsWith('node:') ? line : line.split('/').slice(-2).join('/');
}
