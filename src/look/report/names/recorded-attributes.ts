import { TracewrightError } from '../../../core/errors.js';
import { hasCode } from '../../../core/files/system-error.js';
import { valueIn } from '../../../spans/read/attribute-in.js';
import { valueUnderAnyName } from '../../../spans/read/older-names.js';
import type { RecordedValue, SpanRecord } from '../../../spans/span-record.js';
import { attributeText } from '../../condition/span-condition.js';
import type { LookIndex } from '../../index/look-index.js';

/**
 * Makes a function that reads values of a row's attributes, also under older names. All are undefined if the
 * file has changed since it was indexed, or is gone.
 */
export function attributesOf(
  index: LookIndex,
  row: number,
): (name: string) => RecordedValue | undefined {
  const { attributes = {} } = recordedSpan(index, row) ?? {};
  return (name) => valueUnderAnyName((each) => valueIn(attributes, each), name);
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

/** Between the values of several attributes. */
const SEPARATOR = ' · ';
/** Instead of the value of an attribute that a span lacks. */
const NOTHING = '–';

/** The values by which a span is grouped. */
export interface GroupedValues {
  /** `SELECT 1`, `shop · SELECT 1`. */
  label: string;
  /** Values of `--where` that select spans with the same ones; null: nothing selects those without one. */
  where: string[] | null;
}

/** The values of some attributes of a row, under their names or older ones. Undefined: it has none of them. */
export function valuesOf(
  index: LookIndex,
  row: number,
  names: readonly string[],
): GroupedValues | undefined {
  const attributes = recordedSpan(index, row)?.attributes ?? {};
  const values = names.map((name) => valueUnderAnyName((each) => valueIn(attributes, each), name));
  if (values.every((value) => value === undefined)) return undefined;
  const texts = values.map((value) => (value === undefined ? undefined : attributeText(value)));
  const isWhole = texts.every((text) => text !== undefined);
  return {
    label: texts.map((text) => text ?? NOTHING).join(SEPARATOR),
    where: isWhole ? texts.map((text, i) => `attribute.${names[i]!}=${text}`) : null,
  };
}
