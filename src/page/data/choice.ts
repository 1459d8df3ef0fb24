import type { Period } from '../../look/report/recording/recording-sides.js';
import type { Fields } from './server.js';
import { type ViewState, setParameters } from '../shell/address.js';
import type { Store } from '../state/store.js';

/** The parameter of the view with the text of the search. */
export const FIND_TEXT = 'find.text';

/** The parameter with the services that are switched off: none has a line break. */
const HIDDEN = 'services.off';

/** Which spans a view is about: those of a text, of services that are on, in the selected range. */
export interface Choice {
  where: string;
  /** Services that are off, with line breaks between them. */
  hidden: string;
  from: number | undefined;
  to: number | undefined;
}

/** Services that are switched off. */
export function hiddenServices({ parameters }: ViewState): string[] {
  return (parameters[HIDDEN] ?? '').split('\n').filter((name) => name !== '');
}

/** Switches services on or off, everywhere. */
export function showServices(view: Store<ViewState>, names: readonly string[], on: boolean): void {
  const others = hiddenServices(view.value).filter((name) => !names.includes(name));
  const hidden = on ? others : [...others, ...names];
  setParameters(view, { [HIDDEN]: hidden.join('\n') });
}

/** Which of some recordings the range is; undefined: none of them alone. */
export function shownPeriod(
  periods: readonly Period[],
  { rangeFrom = NaN, rangeTo = NaN }: Partial<Pick<ViewState, 'rangeFrom' | 'rangeTo'>>,
): Period | undefined {
  // The address has three digits of a nanosecond.
  return periods.find(
    ({ from, to }) => Math.abs(from - rangeFrom) < 1 && Math.abs(to - rangeTo) < 1,
  );
}

/** Makes the list of matches be about the spans of a text; empty: about all. */
export function searchFor(view: Store<ViewState>, text: string): void {
  setParameters(view, { [FIND_TEXT]: text });
}

/** Values of `--where` as the text of the search bar. It has no sign for `"`, but `*` is any text. */
export function searchText(where: readonly string[]): string {
  return where.map((term) => term.replaceAll('"', '*').replace(/=(.*\s.*)$/s, '="$1"')).join(' ');
}

/** Those of the services and the range, whatever is searched for. */
export function scopeOf({ parameters, rangeFrom, rangeTo }: ViewState): Choice {
  return { where: '', hidden: parameters[HIDDEN] ?? '', from: rangeFrom, to: rangeTo };
}

/** Those of a route: the view's parameter `where` selects its requests, as `--where` does. */
export function routeOf(state: ViewState): Choice {
  return { ...scopeOf(state), where: state.parameters['where'] ?? '' };
}

/** Those of the search. */
export function choiceOf(state: ViewState): Choice {
  return { ...scopeOf(state), where: state.parameters[FIND_TEXT] ?? '' };
}

/** The choice as the server takes it. */
export function choiceFields({ where, hidden, from, to }: Choice): Fields {
  return {
    ...(where === '' ? {} : { where }),
    ...(hidden === '' ? {} : { hidden }),
    ...(from === undefined || to === undefined ? {} : { from, to }),
  };
}

/** A text without its conditions on the duration, and with those. */
export function withDurations(text: string, least: number, most: number): string {
  const rest = text.split(/\s+/).filter((term) => term !== '' && !/^duration[<>]/.test(term));
  return [...rest, `duration>=${Math.floor(least)}ns`, `duration<=${Math.ceil(most)}ns`].join(' ');
}
