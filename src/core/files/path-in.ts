import { resolve, sep } from 'node:path';

/**
 * As `join`, for a directory whose path is normalized. Node looks at each character in a function of its own: some
 * ten long paths are enough for V8 to load its compiler and optimize that function, which takes a start 1 ms and 2.5 MB.
 */
export function pathIn(directory: string, name: string): string {
  return directory.endsWith(sep) ? directory + name : directory + sep + name;
}

/** A path with a part that `resolve` takes out: an empty one, or one of dots. */
const UNRESOLVED = /\/\.{0,2}(?:\/|$)/;

/** As `resolve`, of a path that most often needs nothing. */
export function absolutePath(path: string): string {
  const isResolved = sep === '/' && path.startsWith(sep) && !UNRESOLVED.test(path);
  return isResolved ? path : resolve(path);
}
