import { threadRedaction } from '../../../spans/redaction/thread-redaction.js';
import { PATH } from '../conventions.js';

type Value = string | number;

/**
 * The attributes of a request as they are recorded.
 *
 * @param path that of the request, redacted already.
 */
export function redactedAttributes(
  attributes: Readonly<Record<string, Value>>,
  path?: string,
): Record<string, Value> {
  const { redactor } = threadRedaction;
  if (redactor === undefined) return attributes;
  const redacted: Record<string, Value> = {};
  for (const [name, value] of Object.entries(attributes)) {
    const isPath = path !== undefined && name === PATH;
    const own = isPath ? path || undefined : redactor.value(name, value);
    if (own !== undefined) redacted[name] = own as Value;
  }
  return redacted;
}

/** A text as it is recorded; empty: it is not. */
export function redactedText(name: string, text: string): string {
  const { redactor } = threadRedaction;
  return redactor === undefined || text === '' ? text : redactor.text(name, text);
}
