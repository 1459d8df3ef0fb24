import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { BoxWindows } from '../data/box-windows.js';
import type { RecordingData } from '../data/recording-data.js';
import type { RowNames } from '../data/row-names.js';
import type { LitRows, Search } from '../data/search.js';
import type { SelectedRow } from '../data/selected-row.js';
import type { Server } from '../data/server.js';
import type { Target, ViewName, ViewState } from '../shell/address.js';
import type { Tip } from '../time-line/box-tip.js';
import type { Store } from './store.js';

/** Objects that the parts of the page share. */
export interface App {
  readonly server: Server;
  readonly recording: RecordingData;
  readonly view: Store<ViewState>;
  readonly lit: Store<LitRows>;
  readonly search: Search;
  readonly selected: SelectedRow;
  readonly windows: BoxWindows;
  readonly samples: BoxWindows;
  /** What a thread ran, if that is selected and no row is. */
  readonly sample: Store<{ selected: Tip | undefined }>;
  readonly rowNames: RowNames;
  /**
   * Goes to a view, as a link does: `navigate('trace', { id, row, key })`, `navigate('route', { parameters: { name } })`.
   * The range, the look, and parameters with a dot in their name stay; all else is as `target` says.
   */
  readonly navigate: (view: ViewName, target?: Target) => void;
  /** The address to which `navigate` would go. */
  readonly href: (view: ViewName, target?: Target) => string;
  /** Says something to a screen reader. */
  announce(text: string): void;
  /**
   * Selects a row on the time line, and goes there unless it is visible.
   *
   * @param start in ns, of the answer that has the row's number: rows may be renumbered since.
   * @param fills whether the row fills the time line then.
   */
  showRow(row: number, start?: number, fills?: boolean): Promise<void>;
}

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error('a component is outside of the page');
  return app;
}
