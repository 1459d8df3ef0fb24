import { CARRIED_HEADERS } from '../../spans/context/header-format.js';
import { text } from './payload.js';

/**
 * The headers of a received message that carry the trace, as texts.
 *
 * @param valueOf a header, as a text or its bytes.
 */
export function carriedHeaders(valueOf: (name: string) => unknown): Record<string, string> {
  const carried: Record<string, string> = {};
  for (const name of CARRIED_HEADERS) {
    const value = valueOf(name);
    const header = Buffer.isBuffer(value) ? value.toString() : text(value);
    if (header !== undefined) carried[name] = header;
  }
  return carried;
}
