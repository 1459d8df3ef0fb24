import type { RowAnswer } from '../../look/wire/answers.js';
import { Store } from '../state/store.js';
import type { ViewState } from '../shell/address.js';
import type { RecordingData } from './recording-data.js';
import type { Fields, Server } from './server.js';

/** The selected row, and its details once the server has answered. */
interface Selected {
  /** Undefined: nothing is selected, or the answer has not come yet. */
  answer: RowAnswer | undefined;
  /** Why there is none, in words. */
  words: string;
}

const NOTHING: Selected = { answer: undefined, words: '' };

/** The question for a row, which may have another number by now. */
export function rowFields(row: number, key: string | undefined): Fields {
  return key === undefined ? { row } : { row, key };
}

/** Keeps what is known of the selected row. It stays selected when a refresh renumbers the rows. */
export class SelectedRow {
  readonly store = new Store<Selected>(NOTHING);
  readonly #server: Server;
  readonly #view: Store<ViewState>;
  #asked = '';
  #leaving = new AbortController();

  constructor(server: Server, view: Store<ViewState>, recording: RecordingData) {
    this.#server = server;
    this.#view = view;
    const update = (): void => {
      const { answer } = recording;
      if (answer !== undefined) void this.#ask(`${answer.generation} ${answer.revision}`);
    };
    view.watch(update);
    recording.store.watch(update);
  }

  async #ask(revision: string): Promise<void> {
    const { row, key } = this.#view.value;
    const asked = `${revision} ${row} ${key}`;
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.#leaving.abort();
    const known = this.store.value.answer;
    if (row === undefined) {
      this.store.set(NOTHING);
      return;
    }
    if (known?.row !== row && known?.key !== key) this.store.set(NOTHING);
    const leaving = (this.#leaving = new AbortController());
    try {
      const fields = rowFields(row, key);
      const answer = await this.#server.json<RowAnswer>('/data/row', fields, leaving.signal);
      if (leaving.signal.aborted) return;
      this.#asked = `${revision} ${answer.row} ${answer.key}`;
      this.store.set({ answer, words: '' });
      this.#view.set({ row: answer.row, key: answer.key });
    } catch (error) {
      if (leaving.signal.aborted) return;
      // What was read of the row remains; the words say why there is no more.
      this.store.set({ words: error instanceof Error ? error.message : String(error) });
    }
  }
}
