import type { RecordedAttributes, RecordedValue } from '../../spans/span-record.js';

/** A text as JSON. */
export const textJson = JSON.stringify as (value: string) => string;

/** Names come again and again. */
const names = new Map<string, string>();
const MAX_NAMES = 4096;
const LONGEST_NAME = 256;

/** The name of an attribute or a span as JSON. */
export function nameJson(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const json = textJson(name);
  if (names.size < MAX_NAMES && name.length < LONGEST_NAME) names.set(name, json);
  return json;
}

function valueJson(value: RecordedValue): string {
  switch (typeof value) {
    case 'string':
      return textJson(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      return Number.isFinite(value) ? String(value) : `"${value}"`;
    case 'bigint':
      return value.toString();
    default:
      return value === null ? 'null' : `[${value.map(valueJson).join(',')}]`;
  }
}

/** Attributes as a JSON object. Integers have all their digits; NaN and infinities are texts. */
export function attributesJson(attributes: RecordedAttributes): string {
  let json = '{';
  for (const name in attributes) {
    json += `${json === '{' ? '' : ','}${nameJson(name)}:${valueJson(attributes[name]!)}`;
  }
  return `${json}}`;
}
