import { itemsOf } from '../core/settings/kinds.js';
import type { Kind } from '../core/settings/kinds.js';
import { textOf, valueOf } from '../core/settings/value-of.js';
import type { LibraryOptions } from '../libraries/library.js';
import { DEFAULT_NAMES, INJECTED_NAMES, isSilent, LIBRARY_NAMES } from '../libraries/table.js';
import type { InjectedName, LibraryName } from '../libraries/table.js';

/** Which libraries are recorded, and what of them. */
export interface LibrarySettings extends LibraryOptions {
  names: readonly LibraryName[];
  /** Those into which channels are put. */
  injected: readonly InjectedName[];
  /** Whether the lines of loggers get the ids of the active span. */
  logIds: boolean;
}

/** `auto`, `off`, names, or `auto` and names. */
export function namesOf<Name extends string>(
  all: readonly Name[],
  usual: readonly Name[],
): Kind<readonly Name[]> {
  return {
    limit: `auto, off, or names of ${all.join(', ')} with commas between them`,
    parse(text) {
      const names = itemsOf(text.toLowerCase());
      if (names.length === 1 && names[0] === 'off') return [];
      const isKnown = (name: string): boolean =>
        name === 'auto' || (all as readonly string[]).includes(name);
      if (names.length === 0 || !names.every(isKnown)) return undefined;
      const isUsual = (name: Name): boolean => names.includes('auto') && usual.includes(name);
      return all.filter((name) => names.includes(name) || isUsual(name));
    },
  };
}

/** @param propagates whether messages carry the trace on. */
export function readLibraries(propagates: boolean): LibrarySettings {
  const kind = namesOf(LIBRARY_NAMES, DEFAULT_NAMES);
  const names = valueOf('LIBRARIES', undefined, kind) ?? DEFAULT_NAMES;
  const injected =
    valueOf('INJECT', undefined, namesOf(INJECTED_NAMES, INJECTED_NAMES)) ?? INJECTED_NAMES;
  return {
    names: recordedNames(names, injected),
    named: namesOf(LIBRARY_NAMES, []).parse(textOf('LIBRARIES') ?? '') ?? [],
    injected,
    logIds: valueOf('LOGS') === 'ids',
    queryText: valueOf('QUERY_TEXT'),
    errorText: valueOf('ERROR_TEXT'),
    propagates,
  };
}

/** A library without channels of its own is recorded where they are put into it. */
export function recordedNames(
  names: readonly LibraryName[],
  injected: readonly InjectedName[],
): readonly LibraryName[] {
  return names.filter((name) => !isSilent(name) || (injected as readonly string[]).includes(name));
}
