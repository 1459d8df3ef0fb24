import { outOfRange } from '../errors.js';

/** A value, and what an error about it has to name. */
export interface Setting {
  readonly field: string;
  readonly value: unknown;
}

/**
 * What a setting is set to: the option, else the environment variable if it is set and not empty, else
 * the default.
 *
 * @param variable undefined: no variable sets it.
 */
export function setting(
  option: string,
  given: unknown,
  variable: string | undefined,
  otherwise: unknown,
): Setting {
  if (given !== undefined && given !== null) return { field: option, value: given };
  const text = variable === undefined ? '' : process.env[variable];
  if (variable === undefined || text === undefined || text === '') {
    return { field: option, value: otherwise };
  }
  return { field: variable, value: text };
}

/**
 * The same of a number.
 *
 * @throws TracewrightError that names the variable, when it holds something else.
 */
export function numberSetting(
  option: string,
  given: unknown,
  variable: string | undefined,
  otherwise: number | undefined,
): Setting {
  const found = setting(option, given, variable, otherwise);
  if (variable === undefined || found.field !== variable) return found;
  const value = Number(found.value);
  if (!Number.isFinite(value)) throw outOfRange(variable, found.value, 'a number');
  return { field: variable, value };
}
