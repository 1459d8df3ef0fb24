import { TracewrightError } from '../../core/errors.js';
import { hasCode } from '../../core/files/system-error.js';
import { valueUnderAnyName } from '../../spans/read/older-names.js';
import type { RecordedValue, SpanRecord } from '../../spans/span-record.js';
import type { LookIndex } from '../index/look-index.js';

/**
 * What gives the values of a row's attributes, under their names or older ones. All are undefined if the
 * file has changed since it was indexed, or is gone.
 */
export function attributesOf(
  index: LookIndex,
  row: number,
): (name: string) => RecordedValue | undefined {
  const { attributes = {} } = recordedSpan(index, row) ?? {};
  return (name) => valueUnderAnyName((each) => attributes[each], name);
}

/** All fields of a row's span. Undefined if the row is none, or if the file has changed or is gone. */
export function recordedSpan(index: LookIndex, row: number): SpanRecord | undefined {
  try {
    return index.span(row);
  } catch (error) {
    if (error instanceof TracewrightError || hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
