import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { BoxWindows } from '../data/box-windows.js';
import type { RecordingData } from '../data/recording-data.js';
import type { RowNames } from '../data/row-names.js';
import type { LitRows, Search } from '../data/search.js';
import type { SelectedRow } from '../data/selected-row.js';
import type { Server } from '../data/server.js';
import type { Store } from './store.js';
import type { ViewState } from './view-state.js';

/** Objects that the parts of the page share. */
export interface App {
  readonly server: Server;
  readonly recording: RecordingData;
  readonly view: Store<ViewState>;
  readonly lit: Store<LitRows>;
  readonly search: Search;
  readonly selected: SelectedRow;
  readonly windows: BoxWindows;
  readonly rowNames: RowNames;
  /** Windows of the time line that links have left, the last one last. */
  readonly left: Store<LeftWindows>;
  /** Says something to a screen reader. */
  announce(text: string): void;
  /**
   * Selects a row, and moves the time line to it unless it is visible.
   *
   * @param start in ns, of the answer that has the row's number: rows may be renumbered since.
   * @param fills whether the row fills the time line then.
   */
  showRow(row: number, start?: number, fills?: boolean): Promise<void>;
}

/** Earlier values of `from` and `to` of the view. */
export interface LeftWindows {
  windows: readonly Pick<ViewState, 'from' | 'to' | 'follow'>[];
}

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error('a component is outside of the page');
  return app;
}
