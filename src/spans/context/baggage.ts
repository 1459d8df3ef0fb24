/** Names and values that travel with a request. */
export type Baggage = Readonly<Record<string, string>>;

/** Of the W3C specification: what a list must be able to have at least, and what is sent at most. */
const MAX_BYTES = 8192;
const MAX_ENTRIES = 180;

export const NO_BAGGAGE: Baggage = Object.freeze(Object.create(null) as Record<string, string>);

/** token (RFC 7230, section 3.2.6) */
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
/** baggage-octet: printable ASCII but space, quote, comma, semicolon and backslash. */
const OCTETS = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;
const NOT_OCTETS = /[^\x21\x23\x24\x26-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+/gu;

/** Whether a text can be the name of an entry. */
export function isBaggageName(name: string): boolean {
  return TOKEN.test(name);
}

function decode(value: string): string {
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    // Bytes that are no UTF-8 become the replacement character.
    const bytes = Buffer.from(
      value.replaceAll(/%([\da-f]{2})/gi, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      ),
      'latin1',
    );
    return bytes.toString();
  }
}

/**
 * Reads the header `baggage`. Properties of entries are ignored, and so is what violates the
 * specification. Undefined when nothing is left.
 */
export function parseBaggage(header: string): Baggage | undefined {
  if (header.length > MAX_BYTES) return undefined;
  let entries: Record<string, string> | undefined;
  let count = 0;
  for (const member of header.split(',')) {
    const [pair = ''] = member.split(';', 1);
    const equals = pair.indexOf('=');
    if (equals === -1) continue;
    const name = pair.slice(0, equals).trim();
    const value = pair.slice(equals + 1).trim();
    if (!TOKEN.test(name) || !OCTETS.test(value)) continue;
    entries ??= Object.create(null) as Record<string, string>;
    if (!(name in entries) && ++count > MAX_ENTRIES) break;
    entries[name] = decode(value);
  }
  return entries === undefined ? undefined : Object.freeze(entries);
}

/** The header `baggage`; empty when there is nothing to send. What exceeds the limits is left out. */
export function formatBaggage(baggage: Baggage): string {
  let header = '';
  let count = 0;
  for (const name of Object.keys(baggage)) {
    if (!TOKEN.test(name) || count === MAX_ENTRIES) continue;
    const value = baggage[name]!.replaceAll(NOT_OCTETS, (text) =>
      Buffer.from(text)
        .toString('hex')
        .replaceAll(/../g, (code) => `%${code.toUpperCase()}`),
    );
    const entry = `${header === '' ? '' : ','}${name}=${value}`;
    if (header.length + entry.length > MAX_BYTES) continue;
    header += entry;
    count++;
  }
  return header;
}
