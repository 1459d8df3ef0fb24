import type { RecordedAttributes, RecordedValue } from '../span-record.js';

/** Undefined: there is none of the name. */
export function valueIn(attributes: RecordedAttributes, name: string): RecordedValue | undefined {
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

/** Undefined: there is none of the name, or it is no text. */
export function textIn(attributes: RecordedAttributes, name: string): string | undefined {
  const value = valueIn(attributes, name);
  return typeof value === 'string' ? value : undefined;
}
