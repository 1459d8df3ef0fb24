import type { LibraryOptions } from '../libraries/library.js';
import { INJECTED_NAMES, LIBRARY_NAMES } from '../libraries/watched-channels.js';
import type { InjectedName, LibraryName } from '../libraries/watched-channels.js';

/** Which libraries are recorded, and what of them. */
export interface LibrarySettings extends LibraryOptions {
  names: readonly LibraryName[];
  /** Those into which channels are put. */
  injected: readonly InjectedName[];
}

/** What `TRACEWRIGHT_LIBRARIES` may be. */
export const LIBRARIES_LIMIT = limitOf(LIBRARY_NAMES);
/** What `TRACEWRIGHT_INJECT` may be. */
export const INJECT_LIMIT = limitOf(INJECTED_NAMES);

function limitOf(names: readonly string[]): string {
  return `auto, off, or names of ${names.join(', ')} with commas between them`;
}

/** `auto`, `off`, or names; undefined: neither. */
function parse<Name extends string>(
  text: string,
  all: readonly Name[],
): readonly Name[] | undefined {
  const names = text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  if (names.length === 1 && names[0] === 'auto') return all;
  if (names.length === 1 && names[0] === 'off') return [];
  const known = all.filter((name) => names.includes(name));
  return known.length > 0 && known.length === new Set(names).size ? known : undefined;
}

/** `TRACEWRIGHT_LIBRARIES`: `auto`, `off`, or names; undefined: neither. */
export function parseLibraries(text: string): readonly LibraryName[] | undefined {
  return parse(text, LIBRARY_NAMES);
}

/** `TRACEWRIGHT_INJECT`: `auto`, `off`, or names; undefined: neither. */
export function parseInject(text: string): readonly InjectedName[] | undefined {
  return parse(text, INJECTED_NAMES);
}

/** A library without channels of its own is recorded where they are put into it. */
export function recordedNames(
  names: readonly LibraryName[],
  injected: readonly InjectedName[],
): readonly LibraryName[] {
  const isInjectable = (name: LibraryName): name is InjectedName =>
    (INJECTED_NAMES as readonly string[]).includes(name);
  return names.filter((name) => !isInjectable(name) || injected.includes(name));
}
