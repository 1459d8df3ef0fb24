import { TracewrightError } from '../errors.js';

/** The character that Node puts into a name for bytes that are not UTF-8. */
const REPLACED = '\ufffd';

/** The error for a path that was listed and does not exist, if its name is not UTF-8; undefined: it was deleted. */
export function nameNotText(path: string): TracewrightError | undefined {
  if (!path.includes(REPLACED)) return undefined;
  const message = `cannot read ${path}: its name is not UTF-8; rename it to see what it has`;
  return new TracewrightError('ERR_SYSTEM', message, { field: 'path', value: path });
}
