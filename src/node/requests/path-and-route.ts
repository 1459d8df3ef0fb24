import { codeAt, known, textLength } from '../../core/utf8.js';
import { insideOf, isAround } from '../../libraries/engine/router-matches.js';
import type { RouterMatch } from '../../libraries/engine/router-matches.js';
import { isErrorPage, ROUTE } from '../../spans/route.js';
import type { GivenRoute } from '../../spans/route.js';

/** Longest recorded path or route, in characters. An event with it fits any datagram. */
const MAX_LENGTH = 256;

const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const QUESTION_MARK = 0x3f;
const NUMBER_SIGN = 0x23;
const SEMICOLON = 0x3b;
const PERCENT = 0x25;
const AT_SIGN = 0x40;
const MAX_ASCII = 0x7f;

/** Scheme and authority of a URL in absolute form. Parsers take backslashes for slashes. */
const ABSOLUTE = /^[a-z][a-z\d+.-]*:[/\\][/\\]*[^/\\?#]*/i;
/** An authority without a scheme, which parsers of URLs see where two slashes begin. */
const NETWORK_PATH = /^[/\\]{2,}([^/\\?#]*)/;
/**
 * A character as it is and in any number of encodings: `%3F`, `%u003F`, `\u003F`, as UTF-8 of too many bytes, and
 * of full width, which some servers take for the same.
 */
function encoded(character: string): string {
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  const wide = (0xff00 + code - 0x20).toString(16);
  const percent = '%(?:25)*';
  const bytesOf = (...bytes: number[]): string =>
    bytes.map((byte) => percent + byte.toString(16)).join('');
  const low = 0x80 | (code & 0x3f);
  return [
    `[${character}]`,
    percent + hex,
    `(?:${percent}|\\\\|${percent}5c)u(?:00${hex}|${wide}|\\{0*${hex}\\})`,
    bytesOf(0xc0 | (code >> 6), low),
    bytesOf(0xe0, 0x80 | (code >> 6), low),
    bytesOf(...Buffer.from(String.fromCharCode(0xff00 + code - 0x20))),
  ].join('|');
}

/** Begins the query or the fragment. */
const QUERY = new RegExp(`${encoded('?')}|${encoded('#')}`, 'i');
/** A path parameter: to the next slash. */
const PARAMETER = new RegExp(`(?:${encoded(';')})[^/\\\\]*`, 'gi');
const AT = new RegExp(encoded('@'), 'i');
const COLON = new RegExp(encoded(':'), 'i');

/**
 * The path of a request's target, without what may be secret: the query, the fragment, path parameters
 * (`;jsessionid=…`), and credentials. They are found in any number of percent-encodings. A path of more
 * than 256 characters is cut and ends in `…`, and so does one that is cut before credentials.
 *
 * Of `CONNECT`'s authority, host and port stay.
 */
export function pathOf(target: string): string {
  const length = textLength(target);
  known.text = '';
  if (length > 0 && codeAt(target, 0) === SLASH) {
    // Not with indexOf: it leaves compiled code, and took a sixth of what a request costs.
    const searched = Math.min(length, MAX_LENGTH + 1);
    const { bytes } = known;
    bytes[0] = SLASH;
    let all = SLASH;
    let before = SLASH;
    let i = 1;
    for (; i < searched; i++) {
      const code = codeAt(target, i);
      // Most characters of a path are small letters.
      if (code <= BACKSLASH && isSpecial(code, before)) break;
      bytes[i] = code;
      all |= code;
      before = code;
    }
    if (i > MAX_LENGTH) return bounded(target);
    const isWhole = i === length;
    if (isWhole || isQuery(codeAt(target, i))) {
      const path = isWhole ? target : target.slice(0, i);
      if (all <= MAX_ASCII) known.text = path;
      return path;
    }
  }
  return bounded(withoutSecrets(target));
}

function isQuery(code: number): boolean {
  return code === QUESTION_MARK || code === NUMBER_SIGN;
}

/** Whether more than the characters that are recorded as they are may begin here. */
function isSpecial(code: number, before: number): boolean {
  switch (code) {
    case QUESTION_MARK:
    case NUMBER_SIGN:
    case SEMICOLON:
    case PERCENT:
    case AT_SIGN:
    case BACKSLASH:
      return true;
    case SLASH:
      return before === SLASH;
    default:
      return false;
  }
}

function withoutSecrets(target: string): string {
  if (target === '' || target === '*') return target;
  const [visible = ''] = withoutAuthority(target).split(QUERY, 1);
  const path = visible.replace(PARAMETER, '');
  const secret = startOfCredentials(path);
  return (secret === undefined ? path : `${path.slice(0, secret)}…`) || '/';
}

/** Where a segment begins that has the credentials of a URL within the path: `/proxy/http://user:…@host`. */
function startOfCredentials(path: string): number | undefined {
  let start = 0;
  let isAfterSlashes = false;
  for (const segment of path.split(/[/\\]/)) {
    const at = segment.search(AT);
    if (at !== -1 && (isAfterSlashes || COLON.test(segment.slice(0, at)))) return start;
    isAfterSlashes = segment === '' && start > 0;
    start += segment.length + 1;
  }
  return undefined;
}

function withoutAuthority(target: string): string {
  const absolute = ABSOLUTE.exec(target);
  if (absolute !== null) return target.slice(absolute[0].length);
  const network = NETWORK_PATH.exec(target);
  if (network !== null) {
    // Programs that join paths produce double slashes too.
    return AT.test(network[1] ?? '') ? target.slice(network[0].length) : target;
  }
  const first = target.charCodeAt(0);
  return first === SLASH || first === BACKSLASH ? target : hostOf(target);
}

/** The host, and the port, of an authority: without the user and the password. */
export function hostOf(authority: string): string {
  const [host = ''] = authority.split(/[/\\?#]/, 1);
  return bounded(host.split(AT).at(-1) ?? '');
}

/** Scheme, host and port of an origin that a program has given as text. */
export function originOf(origin: string): string {
  const [, scheme = '', rest = origin] = /^([a-z][a-z\d+.-]*:)[/\\]+(.*)$/is.exec(origin) ?? [];
  return bounded(scheme === '' ? hostOf(rest) : `${scheme}//${hostOf(rest)}`);
}

/** The text, cut if it is longer than 256 characters. */
export function bounded(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1)}…`;
}

/** Fields that a router leaves on the request (express and its like). */
interface RoutedRequest extends GivenRoute {
  baseUrl?: unknown;
  route?: { path?: unknown };
}

/** A route whose segments are those of the path, one by one: without wildcards and optional parts. */
const PLAIN = /^[^*+?(){}[\]]*$/;

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** Whether a route may be all that has matched a path, rather than the rest of it. */
function matchesAll(path: string, route: string): boolean {
  if (!PLAIN.test(route)) return true;
  const segments = segmentsOf(path.toLowerCase());
  const own = segmentsOf(route.toLowerCase());
  return (
    segments.length === own.length &&
    own.every((part, i) => part.includes(':') || part === segments[i])
  );
}

/** Where Next.js keeps what it knows of a request. */
const NEXT = Symbol.for('NextInternalRequestMeta');

/**
 * The page or the handler of Next.js that a request went to: `/users/[id]`; empty: none. It is replaced by the page that
 * shows an error.
 */
function routeOfNext(request: object): string {
  const meta = (request as { [NEXT]?: { match?: { definition?: { pathname?: unknown } } } })[NEXT];
  const page = meta?.match?.definition?.pathname;
  return typeof page === 'string' && !isErrorPage(page) ? page : '';
}

/**
 * The pattern that a router has left on the request, for routers into which nothing is put; empty: nothing that is a
 * pattern. `baseUrl` is what was requested. Express restores it when a router hands an error on.
 *
 * @param requested the path of the request when it came: frameworks rewrite its URL.
 */
function leftRoute({ route, baseUrl }: RoutedRequest, requested: string): string {
  const path = route?.path;
  if (typeof path !== 'string') return '';
  if (typeof baseUrl !== 'string') return path;
  return baseUrl === '' && matchesAll(requested, path) ? path : '';
}

/**
 * The pattern that a request has matched: as `setRoute` was given it, or as a router reports or leaves it; empty if
 * there is none.
 *
 * @param of the request; of HTTP/2 its stream.
 * @param matched what a router has matched for good.
 * @param reported what a framework has reported.
 * @param requested as of `leftRoute`.
 * @param said what a framework has said by its own spans.
 */
export function routeOf(
  of: object,
  matched: RouterMatch | undefined,
  reported: string,
  requested: string,
  said = '',
): string {
  const given = (of as RoutedRequest)[ROUTE];
  if (given !== undefined) return bounded(given);
  const inside = insideOf(of);
  // What is around the last match has passed on to it.
  if (inside && !isAround(inside, matched)) return bounded(said || routeOfNext(of) || inside.route);
  if (reported !== '') return reported;
  if (matched !== undefined) return bounded(matched.route);
  const left = inside === undefined ? leftRoute(of, requested) : '';
  return bounded(left || said || routeOfNext(of));
}
