import type { SpanAttributes } from '../spans/attributes.js';
import { exceptionAttributes } from '../spans/exception.js';

/**
 * The attributes of an event `exception` as OpenTelemetry's SDK has them: a code goes before the name of the class.
 *
 * @returns undefined for what says nothing.
 */
export function exceptionAttributesOf(exception: unknown): SpanAttributes | undefined {
  if (exception === undefined || exception === null) return undefined;
  const found = exceptionAttributes(exception);
  const code = codeOf(exception);
  const attributes = code === undefined ? found : { ...found, 'exception.type': code };
  const { 'exception.type': type, 'exception.message': message } = attributes;
  return type === undefined && message === undefined ? undefined : attributes;
}

function codeOf(exception: unknown): string | undefined {
  if (typeof exception !== 'object') return undefined;
  try {
    const { code } = exception as { code?: unknown };
    return (typeof code === 'string' && code !== '') || (typeof code === 'number' && code !== 0)
      ? String(code)
      : undefined;
  } catch {
    return undefined;
  }
}
