/** Most characters that OpenTelemetry's SDK takes of a name and of a value. */
const MAX_LENGTH = 255;

/** `OTEL_RESOURCE_ATTRIBUTES` as it was read. */
interface ResourceVariable {
  readonly attributes: Readonly<Record<string, string>>;
  /** Why the whole of it counts as not set; undefined: it is valid. */
  readonly fault: string | undefined;
}

function invalid(fault: string): ResourceVariable {
  return { attributes: {}, fault };
}

/**
 * Reads `name=value,…`, percent-encoded. One fault discards the whole, as OpenTelemetry's specification says: half of
 * it could name another service.
 */
export function readResourceVariable(text: string): ResourceVariable {
  const attributes: Record<string, string> = {};
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue;
    const [encodedName = '', encodedValue, ...more] = pair.split('=');
    if (encodedValue === undefined || more.length > 0) {
      return invalid(`${JSON.stringify(pair)} is not name=value`);
    }
    try {
      const name = decodeURIComponent(encodedName.trim());
      const value = decodeURIComponent(encodedValue.trim());
      if (name === '' || name === '__proto__')
        return invalid(`${JSON.stringify(pair)} has no name`);
      if (name.length > MAX_LENGTH || value.length > MAX_LENGTH) {
        return invalid(
          `${JSON.stringify(name.slice(0, MAX_LENGTH))} has more than ${MAX_LENGTH} characters`,
        );
      }
      attributes[name] = value;
    } catch {
      return invalid(`${JSON.stringify(pair)} is not percent-encoded`);
    }
  }
  return { attributes, fault: undefined };
}
