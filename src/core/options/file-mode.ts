import { outOfRange, wrongType } from '../errors.js';
import { setting } from './setting.js';

/** Only the user of the process reads and writes. */
export const PRIVATE_FILE = 0o600;

const VARIABLE = 'TRACEWRIGHT_FILE_MODE';
const LIMIT = '0600, 0640, 0644, 0660 or 0664';
const MODES: readonly number[] = [0o600, 0o640, 0o644, 0o660, 0o664];

/**
 * The option `fileMode`, else its variable in octal digits, else `PRIVATE_FILE`.
 *
 * @throws TracewrightError that names the option, or the variable, and its limit.
 */
export function checkFileMode(option?: unknown): number {
  const { field, value } = setting('fileMode', option, VARIABLE, PRIVATE_FILE);
  if (field === VARIABLE) {
    const mode = /^0?[0-7]{3}$/.test(String(value)) ? parseInt(String(value), 8) : -1;
    if (!MODES.includes(mode)) throw outOfRange(field, value, LIMIT);
    return mode;
  }
  if (typeof value !== 'number') throw wrongType(field, value, `a number: ${LIMIT} (octal)`);
  if (!MODES.includes(value)) throw outOfRange(field, `0${value.toString(8)}`, LIMIT);
  return value;
}

/** The mode of a directory for files of a mode: who may read them may enter it, who may write may add. */
export function directoryMode(fileMode: number): number {
  return fileMode | ((fileMode & 0o444) >> 2);
}

/** Of a trace's files by default. */
export const PRIVATE_DIRECTORY = directoryMode(PRIVATE_FILE);
