/** Longest path or route that is recorded, in characters: with it an event fits any datagram. */
const MAX_LENGTH = 256;

/**
 * The path of a request's URL. What follows `?` or `#` is left out, for it may hold what must not
 * be written down, and so is what stands before the path (`http://user:password@host`). A path of
 * more than 256 characters is cut, and ends in `…`.
 */
export function pathOf(url: string): string {
  let from = 0;
  if (!url.startsWith('/')) {
    const scheme = url.indexOf('://');
    if (scheme !== -1) {
      const path = url.slice(scheme + 3).search(/[/?#]/);
      if (path === -1) return '/';
      from = scheme + 3 + path;
    }
  }
  let to = url.indexOf('?', from);
  if (to === -1) to = url.length;
  const fragment = url.indexOf('#', from);
  if (fragment !== -1 && fragment < to) to = fragment;
  return bounded(from === 0 && to === url.length ? url : url.slice(from, to) || '/');
}

/** The text, cut where it is longer than a path may be. */
export function bounded(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1)}…`;
}
