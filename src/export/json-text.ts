import { numberText } from '../core/json.js';
import type { RecordedAttributes, RecordedValue } from '../spans/span-record.js';

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
      return Number.isFinite(value) ? numberText(value) : `"${value}"`;
    case 'bigint':
      return value.toString();
    default:
      if (value instanceof Uint8Array) return `"${Buffer.from(value).toString('base64')}"`;
      return value === null ? 'null' : `[${value.map(valueJson).join(',')}]`;
  }
}

/** Attributes as a JSON object. Integers have all their digits; NaN, infinities and bytes are texts. */
export function attributesJson(attributes: RecordedAttributes): string {
  let json = '{';
  for (const name in attributes) {
    json += `${json === '{' ? '' : ','}${nameJson(name)}:${valueJson(attributes[name]!)}`;
  }
  return `${json}}`;
}

const PIECE_CHARACTERS = 256 << 10;

/** Texts in pieces of some size, for what is large as a whole. */
export function* inPieces(texts: Iterable<string>): Generator<string, void> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** The same as {@link attributesJson}, an attribute each. */
export function* attributePieces(attributes: RecordedAttributes): Generator<string, void> {
  let before = '{';
  for (const name in attributes) {
    yield `${before}${nameJson(name)}:${valueJson(attributes[name]!)}`;
    before = ',';
  }
  yield before === ',' ? '}' : '{}';
}

/**
 * The type of a value that JSON has as a text, though it is none: `"double"`, `"bytes"`, or an array of such and null.
 */
function typeJson(value: RecordedValue): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : '"double"';
  if (value instanceof Uint8Array) return '"bytes"';
  if (!Array.isArray(value)) return undefined;
  const types = value.map(typeJson);
  return types.every((type) => type === undefined)
    ? undefined
    : `[${types.map((type) => type ?? 'null').join(',')}]`;
}

/**
 * The types of attributes whose value is a text in {@link attributesJson}, and is none, as a JSON object. So NaN is not
 * taken for the text `NaN`. Undefined: there are none.
 */
export function attributeTypesJson(attributes: RecordedAttributes): string | undefined {
  let json = '';
  for (const name in attributes) {
    const type = typeJson(attributes[name]!);
    if (type !== undefined) json += `${json === '' ? '{' : ','}${nameJson(name)}:${type}`;
  }
  return json === '' ? undefined : `${json}}`;
}

/** `,"attribute_types":{…}`, or nothing. */
export function furtherTypesJson(attributes: RecordedAttributes): string {
  const types = attributeTypesJson(attributes);
  return types === undefined ? '' : `,"attribute_types":${types}`;
}
