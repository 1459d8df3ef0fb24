/** Where a URL, or a name with one, has hosts, and where its path. */

/** Scheme and authority of a URL. Parsers take backslashes for slashes. */
const ORIGIN = /^([a-z][a-z\d+.-]*:[/\\]{2,})([^/\\?#]*)/i;
/** Host and port without a scheme, as the target of `CONNECT` is. */
const AUTHORITY = /^(?:\[[\da-f:.]+\]|localhost|[\w-]+(?:\.[\w-]+)+):\d{1,5}(?=[/\\?#]|$)/i;
const SCHEME_CHARACTER = /[a-z\d+.-]/i;
const AUTHORITY_END = /[/\\?#\s]/;
const NAME_CHARACTER = /[\w.-]/;
/** Found in a name only if it is that of a URL: a slash, a query, or one of them encoded. */
const OF_PATH = /[/\\?]|%(?:25)*(?:2f|5c|3f)/i;

/** Changes a part of a text; undefined: the text is not recorded. */
export type Change = (part: string) => string | undefined;

/** A URL with everything changed but scheme, host and port. */
export function changedUrl(url: string, change: Change): string | undefined {
  const [whole, scheme = '', authority = ''] = ORIGIN.exec(url) ?? AUTHORITY.exec(url) ?? [];
  if (whole === undefined) return change(url);
  const path = whole.length === url.length ? '' : change(url.slice(whole.length));
  const at = authority.lastIndexOf('@');
  if (at === -1 || path === undefined) return path === undefined ? undefined : whole + path;
  const user = change(authority.slice(0, at));
  return user === undefined ? undefined : `${scheme}${user}${authority.slice(at)}${path}`;
}

/** Scheme, host and port of a URL, without credentials; undefined: it has none. */
export function originOf(url: string): string | undefined {
  const match = ORIGIN.exec(url);
  if (match === null) return undefined;
  const [, scheme = '', authority = ''] = match;
  return scheme + authority.slice(authority.lastIndexOf('@') + 1);
}

/** The next scheme and authority in a text from a position on; undefined: there is none. */
function originIn(text: string, from: number): [start: number, end: number] | undefined {
  const colon = text.indexOf('://', from);
  if (colon === -1) return undefined;
  let start = colon;
  while (start > from && SCHEME_CHARACTER.test(text[start - 1]!)) start--;
  let end = colon + 3;
  while (end < text.length && !AUTHORITY_END.test(text[end]!)) end++;
  // Credentials are no part of a host.
  const at = text.lastIndexOf('@', end - 1);
  return at > colon ? [at + 1, end] : [start, end];
}

/** The next of the hosts in a text from a position on, with its port. */
function hostIn(
  text: string,
  from: number,
  hosts: readonly string[],
): [start: number, end: number] | undefined {
  let found: [start: number, end: number] | undefined;
  for (const host of hosts) {
    let start = text.indexOf(host, from);
    while (start !== -1 && start < (found?.[0] ?? Infinity)) {
      const end = start + host.length;
      const isWhole =
        !NAME_CHARACTER.test(text[start - 1] ?? ' ') && !NAME_CHARACTER.test(text[end] ?? ' ');
      if (isWhole) {
        const [port = ''] = /^\]?:\d{1,5}(?!\d)/.exec(text.slice(end, end + 8)) ?? [];
        found = [start, end + port.length];
        break;
      }
      start = text.indexOf(host, start + 1);
    }
  }
  return found;
}

/**
 * The name of a span with everything changed but the hosts in it.
 *
 * @param hosts that the span's attributes name.
 */
export function changedName(
  name: string,
  hosts: readonly string[],
  change: Change,
): string | undefined {
  let changed = '';
  let at = 0;
  while (at < name.length) {
    const origin = originIn(name, at);
    const host = hostIn(name, at, hosts);
    const kept =
      origin === undefined || (host !== undefined && host[0] < origin[0]) ? host : origin;
    const part = name.slice(at, kept?.[0]);
    const own = part === '' ? '' : change(part);
    if (own === undefined) return undefined;
    changed += own;
    if (kept === undefined) break;
    changed += name.slice(...kept);
    at = kept[1];
  }
  return changed;
}

/** The words of a name before the first that may be of a path; empty: there is none. */
export function nameBeforePath(name: string): string {
  if (!OF_PATH.test(name)) return name;
  const words = name.split(/(\s+)/);
  const first = words.findIndex((word) => OF_PATH.test(word));
  return words.slice(0, first).join('').trimEnd();
}
