import { valueUnderAnyName } from '../../spans/read/older-names.js';
import { attributeText } from '../condition/span-condition.js';
import type { LookIndex } from '../index/look-index.js';
import { recordedSpan } from './recorded-attributes.js';

/** Between the values of several attributes. */
const SEPARATOR = ' · ';
/** In place of the value of an attribute that a span lacks. */
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
  const values = names.map((name) =>
    valueUnderAnyName(
      (each) => (Object.hasOwn(attributes, each) ? attributes[each] : undefined),
      name,
    ),
  );
  if (values.every((value) => value === undefined)) return undefined;
  const texts = values.map((value) => (value === undefined ? undefined : attributeText(value)));
  const isWhole = texts.every((text) => text !== undefined);
  return {
    label: texts.map((text) => text ?? NOTHING).join(SEPARATOR),
    where: isWhole ? texts.map((text, i) => `attribute.${names[i]!}=${text}`) : null,
  };
}
