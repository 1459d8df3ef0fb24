import { Store } from './store.js';

export type ColourBy = 'name' | 'status' | 'service';
export type Theme = 'system' | 'light' | 'dark';

/** As the id of the panel: none is open. */
export const NO_PANEL = 'none';

/** The view of the page. All of it lies in the URL, so that a link shows the same. */
export interface ViewState {
  /** The window of the time line, in ns since time 0. Undefined: the whole recording. */
  from: number | undefined;
  to: number | undefined;
  /** The selected row. */
  row: number | undefined;
  /** Finds it again when rows are renumbered: its start in ns, then its id. */
  key: string | undefined;
  /** The selected range, in ns. */
  rangeFrom: number | undefined;
  rangeTo: number | undefined;
  /** Id of the open panel, or NO_PANEL. Undefined: nothing was chosen. */
  panel: string | undefined;
  colour: ColourBy;
  theme: Theme;
  /** Whether a live time line moves on with the recording. */
  follow: boolean;
  /** Parameters of panels: `find.text`, `table.sort`. Names begin with the panel's id. */
  parameters: Readonly<Record<string, string>>;
}

const INITIAL: ViewState = {
  from: undefined,
  to: undefined,
  row: undefined,
  key: undefined,
  rangeFrom: undefined,
  rangeTo: undefined,
  panel: undefined,
  colour: 'name',
  theme: 'system',
  follow: true,
  parameters: {},
};

const NUMBERS = ['from', 'to', 'row', 'rangeFrom', 'rangeTo'] as const;

/** As the URL's fragment has it, without `#`. */
function writeFragment(state: ViewState): string {
  const fields = new URLSearchParams();
  for (const name of NUMBERS) {
    const value = state[name];
    if (value !== undefined) fields.set(name, String(Number(value.toFixed(3))));
  }
  if (state.row !== undefined && state.key !== undefined) fields.set('key', state.key);
  if (state.panel !== undefined) fields.set('panel', state.panel);
  if (state.colour !== INITIAL.colour) fields.set('colour', state.colour);
  if (state.theme !== INITIAL.theme) fields.set('theme', state.theme);
  if (!state.follow) fields.set('follow', 'no');
  for (const [name, value] of Object.entries(state.parameters)) {
    if (name.includes('.') && value !== '') fields.set(name, value);
  }
  return fields.toString();
}

/** Whatever is wrong in a fragment counts as absent. */
function readFragment(fragment: string): ViewState {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const state: ViewState = { ...INITIAL };
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
  state.panel = fields.get('panel') ?? undefined;
  state.colour = oneOf(fields.get('colour'), ['name', 'status', 'service'], INITIAL.colour);
  state.theme = oneOf(fields.get('theme'), ['system', 'light', 'dark'], INITIAL.theme);
  state.follow = fields.get('follow') !== 'no';
  state.parameters = Object.fromEntries([...fields].filter(([name]) => name.includes('.')));
  return state;
}

function oneOf<T extends string>(text: string | null, words: readonly T[], otherwise: T): T {
  return words.find((word) => word === text) ?? otherwise;
}

/** Browsers refuse more than some changes of the URL a second. */
const URL_DELAY = 250;

/** The state of the view, which follows the URL and which the URL follows. */
export function viewStateOfPage(): Store<ViewState> {
  const store = new Store(readFragment(location.hash));
  let timer: number | undefined;
  store.watch(() => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      history.replaceState(null, '', `#${writeFragment(store.value)}`);
    }, URL_DELAY);
  });
  window.addEventListener('hashchange', () => {
    store.set(readFragment(location.hash));
  });
  return store;
}
