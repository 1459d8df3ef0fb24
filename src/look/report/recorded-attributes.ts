import { TracewrightError } from '../../core/errors.js';
import { hasCode } from '../../core/files/system-error.js';
import { valueUnderAnyName } from '../../spans/read/older-names.js';
import type { RecordedValue } from '../../spans/span-record.js';
import type { LookIndex } from '../index/look-index.js';

/**
 * What gives the values of a row's attributes, under their names or older ones. All are undefined if the
 * file has changed since it was indexed, or is gone.
 */
export function attributesOf(
  index: LookIndex,
  row: number,
): (name: string) => RecordedValue | undefined {
  const attributes = recordedAttributes(index, row);
  return (name) => valueUnderAnyName((each) => attributes[each], name);
}

function recordedAttributes(index: LookIndex, row: number): Record<string, RecordedValue> {
  try {
    return index.span(row)?.attributes ?? {};
  } catch (error) {
    if (error instanceof TracewrightError || hasCode(error, 'ENOENT')) return {};
    throw error;
  }
}
