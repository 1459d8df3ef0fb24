import type { RecordedAttributes } from '../span-record.js';
import { valueIn } from './attribute-in.js';
import { valueUnderAnyName } from './older-names.js';

/** Attributes that name the system of an operation: the first that a span has counts. */
export const SYSTEM_NAMES = [
  'db.system.name',
  'messaging.system',
  'rpc.system.name',
  'gen_ai.provider.name',
] as const;
/** An operation with this attribute is one of HTTP, unless it names another system. */
export const HTTP_NAME = 'http.request.method';
export const HTTP = 'http';

/** The system of a span's operation: `redis`, `http`. Undefined: it names none. */
export function systemOf(attributes: RecordedAttributes): string | undefined {
  const valueOf = (name: string): unknown => valueIn(attributes, name);
  for (const name of SYSTEM_NAMES) {
    const value = valueUnderAnyName(valueOf, name);
    if (typeof value === 'string') return value;
  }
  return valueUnderAnyName(valueOf, HTTP_NAME) === undefined ? undefined : HTTP;
}
