import { render } from 'preact';
import { periodsOf } from '../look/report/recording/recording-sides.js';
import type { RowAnswer } from '../look/wire/answers.js';
import { BoxWindows } from './data/box-windows.js';
import { RecordingData } from './data/recording-data.js';
import { RowNames } from './data/row-names.js';
import { NOTHING_LIT, Search } from './data/search.js';
import { SelectedRow, rowFields } from './data/selected-row.js';
import { hasToken, Server, takeToken } from './data/server.js';
import { Address } from './shell/address.js';
import { Page } from './shell/page.js';
import { type App, AppContext } from './state/app.js';
import { Store } from './state/store.js';
import { applyTheme } from './theme/theme.js';
import { windowAround } from './time-line/navigation.js';
import { shownWindow } from './time-line/time-line.js';

const server = new Server(takeToken());
// The printed address, opened in the tab that has the page already, changes only the fragment.
window.addEventListener('hashchange', () => {
  if (!hasToken()) return;
  takeToken();
  location.reload();
});
const recording = new RecordingData(server);
const address = new Address();
const { view } = address;
const lit = new Store(NOTHING_LIT);

/** A span that is shown takes this share of the window; one that fills it the other. */
const SHOWN_SHARE = 0.2;
const FILLING_SHARE = 0.8;

const app: App = {
  server,
  recording,
  view,
  lit,
  search: new Search(server, lit, view, recording),
  selected: new SelectedRow(server, view, recording),
  windows: new BoxWindows(server, recording, '/data/boxes'),
  samples: new BoxWindows(server, recording, '/data/samples'),
  sample: new Store<App['sample']['value']>({ selected: undefined }),
  rowNames: new RowNames(server, recording),
  navigate: address.navigate.bind(address),
  href: address.href.bind(address),
  announce(text) {
    const spoken = document.getElementById('spoken');
    if (spoken !== null) spoken.textContent = text;
  },
  async showRow(row, rowStart, fills = false) {
    const key = rowStart === undefined ? undefined : String(rowStart);
    const isThere = view.value.view === 'time-line';
    if (isThere) view.set({ row, key });
    const answer = await server.json<RowAnswer>('/data/row', rowFields(row, key));
    const { start, duration, track, lane } = answer;
    const { from, to } = shownWindow(app);
    const visible = start < to && start + duration > from && duration > (to - from) / 400;
    if (fills || !visible) {
      const half = Math.max(duration / (fills ? FILLING_SHARE : SHOWN_SHARE), 1000) / 2;
      const around = windowAround(app, start + duration / 2 - half, start + duration / 2 + half);
      app.navigate('time-line', { ...around, row, key });
    } else if (!isThere) app.navigate('time-line', { row, key });
    const detail = { track, lane };
    document.getElementById('time-line')?.dispatchEvent(new CustomEvent('reveal', { detail }));
  },
};

applyTheme(view.value.theme);
view.watch(({ theme }) => {
  applyTheme(theme);
});

const container = document.getElementById('page');
if (container === null) throw new Error('index.html has no element for the page');
render(
  <AppContext.Provider value={app}>
    <Page />
  </AppContext.Provider>,
  container,
);
// As the command does, the views are about the newest of several recordings.
const endWatch = recording.store.watch(({ answer }) => {
  endWatch();
  const newest = periodsOf(answer?.sources ?? []).at(-1);
  if (newest === undefined || answer?.live === true || view.value.rangeFrom !== undefined) return;
  view.set({ rangeFrom: newest.from, rangeTo: newest.to });
});
void recording.follow();
