import { Store } from '../state/store.js';

export type ColourBy = 'name' | 'status' | 'service';
export type Theme = 'system' | 'light' | 'dark';

/** The views, in the order of their tabs. */
export const VIEWS = ['overview', 'route', 'trace', 'time-line', 'find', 'compare'] as const;
export type ViewName = (typeof VIEWS)[number];

/** The state of the page. All of it lies in the URL, so that a link shows the same. */
export interface ViewState {
  view: ViewName;
  /** The id of a trace: it follows the view's name in the path. */
  id: string | undefined;
  /** The window of the time line, in ns since time 0. Undefined: the whole recording. */
  from: number | undefined;
  to: number | undefined;
  /** The selected row. */
  row: number | undefined;
  /** Finds it again when rows are renumbered: its start in ns, then its id. */
  key: string | undefined;
  /** The time range that every view is about, in ns. Undefined: the whole recording. */
  rangeFrom: number | undefined;
  rangeTo: number | undefined;
  colour: ColourBy;
  theme: Theme;
  /** Whether a live time line moves on with the recording. */
  follow: boolean;
  /** Named values of views. Those with a dot in their name stay when one leaves the view: `find.text`. */
  parameters: Readonly<Record<string, string>>;
}

/** The state that a link leads to, except for the view. */
export type Target = Partial<Omit<ViewState, 'view'>>;

const INITIAL: ViewState = {
  view: 'overview',
  id: undefined,
  from: undefined,
  to: undefined,
  row: undefined,
  key: undefined,
  rangeFrom: undefined,
  rangeTo: undefined,
  colour: 'name',
  theme: 'system',
  follow: true,
  parameters: {},
};

/** Sets parameters of the view; the others stay. */
export function setParameters(view: Store<ViewState>, changed: ViewState['parameters']): void {
  view.set({ parameters: { ...view.value.parameters, ...changed } });
}

const NUMBERS = ['from', 'to', 'row', 'rangeFrom', 'rangeTo'] as const;

/** The URL's fragment: `#/trace/0af7…?row=3`. */
function writeFragment(state: ViewState): string {
  const fields = new URLSearchParams();
  for (const name of NUMBERS) {
    const value = state[name];
    if (value !== undefined) fields.set(name, String(Number(value.toFixed(3))));
  }
  if (state.row !== undefined && state.key !== undefined) fields.set('key', state.key);
  if (state.colour !== INITIAL.colour) fields.set('colour', state.colour);
  if (state.theme !== INITIAL.theme) fields.set('theme', state.theme);
  if (!state.follow) fields.set('follow', 'no');
  for (const [name, value] of Object.entries(state.parameters)) {
    if (!OWN_FIELDS.has(name) && value !== '') fields.set(name, value);
  }
  const id = state.id === undefined ? '' : `/${encodeURIComponent(state.id)}`;
  return `#/${state.view}${id}${fields.size === 0 ? '' : `?${fields.toString()}`}`;
}

/** Names that no parameter of a view can have. */
const OWN_FIELDS = new Set<string>([...NUMBERS, 'key', 'colour', 'theme', 'follow', 'token']);

/** Whatever is wrong in a fragment counts as absent. */
function readFragment(fragment: string): ViewState {
  const [, path = '', query = ''] = /^#?([^?]*)\??(.*)$/s.exec(fragment) ?? [];
  const [, view = '', id = ''] = path.split('/');
  const fields = new URLSearchParams(query);
  const state: ViewState = { ...INITIAL };
  state.view = oneOf(view, VIEWS, INITIAL.view);
  state.id = id === '' ? undefined : decoded(id);
  for (const name of NUMBERS) {
    const text = fields.get(name);
    const value = text === null || text.trim() === '' ? NaN : Number(text);
    if (Number.isFinite(value)) state[name] = value;
  }
  if (state.row !== undefined && !(Number.isInteger(state.row) && state.row >= 0)) {
    state.row = undefined;
  }
  if (!(state.from! < state.to!)) state.from = state.to = undefined;
  if (!(state.rangeFrom! < state.rangeTo!)) state.rangeFrom = state.rangeTo = undefined;
  state.key = fields.get('key') ?? undefined;
  state.colour = oneOf(fields.get('colour'), ['name', 'status', 'service'], INITIAL.colour);
  state.theme = oneOf(fields.get('theme'), ['system', 'light', 'dark'], INITIAL.theme);
  state.follow = fields.get('follow') !== 'no';
  state.parameters = Object.fromEntries([...fields].filter(([name]) => !OWN_FIELDS.has(name)));
  return state;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function oneOf<T extends string>(text: string | null, words: readonly T[], otherwise: T): T {
  return words.find((word) => word === text) ?? otherwise;
}

/** The state after a link: the range, the look, and parameters with a dot stay. */
function stateAfter(state: ViewState, view: ViewName, target: Target): ViewState {
  const kept = Object.entries(state.parameters).filter(([name]) => name.includes('.'));
  return {
    ...state,
    id: undefined,
    ...target,
    view,
    parameters: { ...Object.fromEntries(kept), ...target.parameters },
  };
}

/** Browsers refuse more than some changes of the URL a second. */
const URL_DELAY = 250;

/** Keeps the state of the page and the URL equal. */
export class Address {
  readonly view: Store<ViewState>;
  #timer: number | undefined;

  constructor() {
    this.view = new Store(readFragment(location.hash));
    this.view.watch(() => {
      window.clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => {
        this.#write();
      }, URL_DELAY);
    });
    // Back, forward, a typed address, and links within the page.
    window.addEventListener('popstate', () => {
      window.clearTimeout(this.#timer);
      this.view.set(readFragment(location.hash));
    });
  }

  /** As the `href` of a link: what `navigate` would show. */
  href(view: ViewName, target: Target = {}): string {
    return writeFragment(stateAfter(this.view.value, view, target));
  }

  /** Goes to a view as a link does: `back` of the browser comes back. */
  navigate(view: ViewName, target: Target = {}): void {
    const state = stateAfter(this.view.value, view, target);
    // What changed since is part of the page that is left.
    this.#write();
    history.pushState(null, '', writeFragment(state));
    this.view.set(state);
  }

  #write(): void {
    window.clearTimeout(this.#timer);
    history.replaceState(null, '', writeFragment(this.view.value));
  }
}
