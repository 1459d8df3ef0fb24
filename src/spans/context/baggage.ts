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

/** An entry of a header: name, value, and its properties as they came. */
export type FormattedEntry = readonly [name: string, value: string, properties: string];

/** Most characters that are read: a message may have headers of any length. */
const MAX_READ = 1 << 16;

/** The entries of a header `baggage`. What violates the specification, or exceeds its limits, is ignored. */
export function parseEntries(header: string): FormattedEntry[] {
  const entries: FormattedEntry[] = [];
  const names = new Set<string>();
  let length = 0;
  for (const member of header.slice(0, MAX_READ).split(',')) {
    if (length + member.length > MAX_BYTES) continue;
    length += member.length + 1;
    const [pair = '', ...properties] = member.split(';');
    const equals = pair.indexOf('=');
    if (equals === -1) continue;
    const name = pair.slice(0, equals).trim();
    const value = pair.slice(equals + 1).trim();
    if (!TOKEN.test(name) || !OCTETS.test(value)) continue;
    if (!names.has(name) && names.size === MAX_ENTRIES) break;
    names.add(name);
    entries.push([name, decode(value), properties.join(';').trim()]);
  }
  return entries;
}

/** Reads the header `baggage`, without properties. Undefined when nothing is left. */
export function parseBaggage(header: string): Baggage | undefined {
  const entries = parseEntries(header);
  if (entries.length === 0) return undefined;
  const baggage = Object.create(null) as Record<string, string>;
  for (const [name, value] of entries) baggage[name] = value;
  return Object.freeze(baggage);
}

/** The header `baggage`; empty when there is nothing to send. What exceeds the limits is left out. */
export function formatBaggage(baggage: Baggage): string {
  return formatEntries(
    Object.keys(baggage).map((name): FormattedEntry => [name, baggage[name]!, '']),
  );
}

/** Printable ASCII without the comma: properties are not encoded. */
const PROPERTIES = /^[\x20-\x2b\x2d-\x7e\t]*$/;

/** As `formatBaggage`, of entries with properties. Those that a header cannot have are left out. */
export function formatEntries(entries: readonly FormattedEntry[]): string {
  let header = '';
  let count = 0;
  for (const [name, text, properties] of entries) {
    if (count === MAX_ENTRIES) break;
    // Encoding makes nothing shorter.
    if (name.length + text.length > MAX_BYTES || !TOKEN.test(name)) continue;
    const value = text.replaceAll(NOT_OCTETS, (octets) =>
      Buffer.from(octets)
        .toString('hex')
        .replaceAll(/../g, (code) => `%${code.toUpperCase()}`),
    );
    const more = properties !== '' && PROPERTIES.test(properties) ? `;${properties}` : '';
    const entry = `${header === '' ? '' : ','}${name}=${value}${more}`;
    if (header.length + entry.length > MAX_BYTES) continue;
    header += entry;
    count++;
  }
  return header;
}
