import { itemsOf } from '../core/options/switch.js';
import type { LibraryOptions } from '../libraries/library.js';
import {
  DEFAULT_NAMES,
  INJECTED_NAMES,
  LIBRARY_NAMES,
  WITHOUT_CHANNELS,
} from '../libraries/watched-channels.js';
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

/** `auto`, `off`, names, or `auto` and names; undefined: neither. */
function parse<Name extends string>(
  text: string,
  all: readonly Name[],
  usual: readonly Name[],
): readonly Name[] | undefined {
  const names = itemsOf(text.toLowerCase());
  if (names.length === 1 && names[0] === 'off') return [];
  const isKnown = (name: string): boolean =>
    name === 'auto' || (all as readonly string[]).includes(name);
  if (names.length === 0 || !names.every(isKnown)) return undefined;
  const isUsual = (name: Name): boolean => names.includes('auto') && usual.includes(name);
  return all.filter((name) => names.includes(name) || isUsual(name));
}

/** `TRACEWRIGHT_LIBRARIES`: `auto`, `off`, or names; undefined: neither. */
export function parseLibraries(text: string): readonly LibraryName[] | undefined {
  return parse(text, LIBRARY_NAMES, DEFAULT_NAMES);
}

/** The libraries that `TRACEWRIGHT_LIBRARIES` names itself. */
export function namedLibraries(text: string): readonly LibraryName[] {
  return parse(text, LIBRARY_NAMES, []) ?? [];
}

/** `TRACEWRIGHT_INJECT`: `auto`, `off`, or names; undefined: neither. */
export function parseInject(text: string): readonly InjectedName[] | undefined {
  return parse(text, INJECTED_NAMES, INJECTED_NAMES);
}

/** A library without channels of its own is recorded where they are put into it. */
export function recordedNames(
  names: readonly LibraryName[],
  injected: readonly InjectedName[],
): readonly LibraryName[] {
  const needsInjection = (name: LibraryName): name is InjectedName & LibraryName =>
    (WITHOUT_CHANNELS as readonly string[]).includes(name);
  return names.filter((name) => !needsInjection(name) || injected.includes(name));
}
