/** Longest path or route that is recorded, in characters: with it an event fits any datagram. */
const MAX_LENGTH = 256;

const SLASH = 0x2f;
const QUESTION_MARK = 0x3f;
const NUMBER_SIGN = 0x23;
/** Scheme and authority of a URL in absolute form (RFC 9112, section 3.2.2). */
const AUTHORITY = /^[^/?#]*:\/\/[^/?#]*/;

/**
 * The path of a request's URL. What follows `?` or `#` is left out, for it may hold what must not
 * be written down, and so is what comes before the path (`http://user:password@host`). A path of
 * more than 256 characters is cut, and ends in `…`.
 */
export function pathOf(url: string): string {
  const path = url.charCodeAt(0) === SLASH ? url : behindAuthority(url);
  // Not with indexOf: it leaves compiled code, and took a sixth of what a request costs.
  const searched = Math.min(path.length, MAX_LENGTH + 1);
  for (let i = 0; i < searched; i++) {
    const character = path.charCodeAt(i);
    if (character === QUESTION_MARK || character === NUMBER_SIGN) return path.slice(0, i) || '/';
  }
  return bounded(path);
}

function behindAuthority(url: string): string {
  const authority = AUTHORITY.exec(url);
  return authority === null ? url : url.slice(authority[0].length) || '/';
}

/** The text, cut where it is longer than a path may be. */
export function bounded(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1)}…`;
}
