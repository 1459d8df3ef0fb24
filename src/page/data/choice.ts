import type { Fields } from './server.js';
import type { Store } from '../state/store.js';
import type { ViewState } from '../state/view-state.js';

/** The parameter of the view with the text that panels search by. */
export const FIND_TEXT = 'find.text';

/** Which spans the panels are about: those of the text of the find panel, in the selected range. */
export interface Choice {
  where: string;
  from: number | undefined;
  to: number | undefined;
}

/** Makes the panels be about the spans of a text; empty: about all. */
export function searchFor(view: Store<ViewState>, text: string): void {
  view.set({ parameters: { ...view.value.parameters, [FIND_TEXT]: text } });
}

/** Values of `--where` as the text that panels search by. It has no sign for `"`, but `*` is any text. */
export function searchText(where: readonly string[]): string {
  return where.map((term) => term.replaceAll('"', '*').replace(/=(.*\s.*)$/s, '="$1"')).join(' ');
}

export function choiceOf({ parameters, rangeFrom, rangeTo }: ViewState): Choice {
  return { where: parameters[FIND_TEXT] ?? '', from: rangeFrom, to: rangeTo };
}

/** The choice as the server takes it. */
export function choiceFields({ where, from, to }: Choice): Fields {
  return {
    ...(where === '' ? {} : { where }),
    ...(from === undefined || to === undefined ? {} : { from, to }),
  };
}

/** A text without its conditions on the duration, and with those. */
export function withDurations(text: string, least: number, most: number): string {
  const rest = text.split(/\s+/).filter((term) => term !== '' && !/^duration[<>]/.test(term));
  return [...rest, `duration>=${Math.floor(least)}ns`, `duration<=${Math.ceil(most)}ns`].join(' ');
}
