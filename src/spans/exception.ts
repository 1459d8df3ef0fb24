/** What an error says, whatever it is and whatever its getters do. */
interface ExceptionAttributes {
  readonly 'exception.type'?: string;
  readonly 'exception.message'?: string;
  readonly 'exception.stacktrace'?: string;
  readonly [name: string]: string | undefined;
}

function textOf(error: object, name: string): string | undefined {
  try {
    const value = (error as Record<string, unknown>)[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The attributes of an event `exception`, by OpenTelemetry's conventions. */
export function exceptionAttributes(error: unknown): ExceptionAttributes {
  if (error === undefined) return {};
  if (typeof error === 'string') return { 'exception.message': error };
  if (typeof error !== 'object' || error === null) {
    const thrown = error as number;
    return { 'exception.message': typeof error === 'function' ? 'a function' : String(thrown) };
  }
  const found: Record<string, string> = {};
  const put = (name: string, text: string | undefined): void => {
    if (text !== undefined) found[name] = text;
  };
  put('exception.type', textOf(error, 'name'));
  put('exception.message', textOf(error, 'message'));
  put('exception.stacktrace', textOf(error, 'stack'));
  return found;
}
