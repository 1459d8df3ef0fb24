import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Digits of a hash: enough that two keys of one user never have the same. */
const KEY_DIGITS = 16;

/**
 * Where what outlives a process lies unless it is named: below the user's directory for state.
 *
 * @param kind which part of the program keeps it.
 * @param key what it is for.
 */
export function statePath(kind: string, key: string, prefix = ''): string {
  const { XDG_STATE_HOME: state } = process.env;
  const base = state?.startsWith('/') === true ? state : join(homedir(), '.local', 'state');
  const name = createHash('sha256').update(key).digest('hex').slice(0, KEY_DIGITS);
  return join(base, 'tracewright', kind, `${prefix}${name}.json`);
}
