import { outOfRange } from '../errors.js';
import { claimNote, putNote } from '../process-notes.js';
import type { Kind } from './kinds.js';
import { SETTINGS } from './table.js';
import type { Setting } from './table.js';

/** A variable, without its prefix. */
export type SettingName = keyof typeof SETTINGS;

type Taken<N extends SettingName> =
  (typeof SETTINGS)[N] extends Setting<infer T, unknown> ? T : never;
type Default<N extends SettingName> = (typeof SETTINGS)[N]['otherwise'];

export const PREFIX = 'TRACEWRIGHT_';

/** The text of a variable; undefined: it is not set, or empty. */
export function textOf(name: SettingName): string | undefined {
  return process.env[PREFIX + name] || undefined;
}

/** Warns in one thread of the process, and once of each fault. */
function warnOnce(name: SettingName, text: string, message: string): void {
  const note = `setting ${name} ${text}`;
  if (!claimNote(note)) return;
  putNote(note, '1');
  process.emitWarning(message, 'TracewrightWarning');
}

/**
 * The value of a setting: the option, else the variable, else the default. A wrong variable causes one warning and is
 * the default, unless the table says otherwise.
 *
 * @param option what the caller gave; undefined: nothing.
 * @param kind if it depends on what the table does not know.
 * @throws TracewrightError that names the option, or a variable whose fault must not pass, and the limit.
 */
export function valueOf<N extends SettingName, T = Taken<N>>(
  name: N,
  option?: unknown,
  kind?: Kind<T>,
): T | Default<N> {
  const setting: Setting<unknown, unknown> = SETTINGS[name];
  const { limit, parse, check } = kind ?? setting.kind;
  const { option: field, otherwise, invalid } = setting;
  if (option !== undefined && option !== null) return check!(field!, option) as T;
  const text = textOf(name);
  if (text === undefined) return otherwise as Default<N>;
  try {
    const value = parse(text);
    if (value === undefined) throw outOfRange(PREFIX + name, text, limit);
    return value as T;
  } catch (error) {
    if (invalid !== undefined) throw error;
    const isList = Array.isArray(otherwise);
    const hasDefault = isList ? otherwise.length > 0 : otherwise !== undefined && otherwise !== '';
    const shown = typeof otherwise === 'boolean' ? (otherwise ? 'on' : 'off') : String(otherwise);
    const used = hasDefault ? `${shown} is used` : 'it counts as not set';
    warnOnce(name, text, `${(error as Error).message}; ${used}`);
    return otherwise as Default<N>;
  }
}
