import { isMethod } from '../../look/report/names/request-name.js';
import { MOST_ROW_NAMES } from '../../look/wire/answers.js';
import type { RowNamesAnswer } from '../../look/wire/answers.js';
import { Store } from '../state/store.js';
import { rangesOf } from './box-windows.js';
import type { RecordingData } from './recording-data.js';
import type { Server } from './server.js';

/** Rows that wait to be asked for: those that were shown last. */
const MOST_WISHES = 400;
const MOST_KNOWN = 20_000;
/** Nothing is asked for while the view still moves, in ms. */
const PAUSE = 150;

interface KnownName {
  start: number;
  /** The start that the row was asked for with. Another one: the row has had another number. */
  wished: number;
  text: string;
}

/** Names of single rows: of a request that is named by its method alone, with its path. */
export class RowNames {
  /** Changes with every answer. */
  readonly store = new Store({ answers: 0 });
  readonly #server: Server;
  readonly #recording: RecordingData;
  readonly #known = new Map<number, KnownName>();
  /** Starts by row. */
  readonly #wished = new Map<number, number>();
  #timer = 0;
  #generation = '';

  constructor(server: Server, recording: RecordingData) {
    this.#server = server;
    this.#recording = recording;
    recording.store.watch(({ answer }) => {
      if (answer === undefined || answer.generation === this.#generation) return;
      this.#generation = answer.generation;
      this.#known.clear();
      this.#wished.clear();
    });
  }

  /** Names a row. It asks the server for a path that is not known yet. */
  nameOf(name: number, row: number, start: number): string {
    const text = this.#recording.name(name);
    if (!isMethod(text)) return text;
    const known = this.#known.get(row);
    if (known?.start === start) return known.text;
    if (known?.wished !== start && this.#wished.get(row) !== start) this.#wish(row, start);
    return text;
  }

  #wish(row: number, start: number): void {
    this.#wished.delete(row);
    this.#wished.set(row, start);
    if (this.#wished.size > MOST_WISHES) this.#wished.delete(this.#wished.keys().next().value!);
    this.#askLater();
  }

  #askLater(): void {
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#ask(), PAUSE);
  }

  async #ask(): Promise<void> {
    const wishes = [...this.#wished].slice(-MOST_ROW_NAMES).sort(([row], [other]) => row - other);
    const generation = this.#generation;
    try {
      const rows = rangesOf(wishes.map(([row]) => row));
      const { names } = await this.#server.json<RowNamesAnswer>('/data/row-names', { rows });
      if (generation !== this.#generation) return;
      if (this.#known.size > MOST_KNOWN) this.#known.clear();
      for (const [at, { start, name }] of names.entries()) {
        const [row, wished] = wishes[at]!;
        this.#known.set(row, { start, wished, text: name });
      }
      this.store.set({ answers: this.store.value.answers + 1 });
    } catch {
      // The rows are gone, or the connection says why.
    }
    for (const [row, start] of wishes) {
      if (this.#wished.get(row) === start) this.#wished.delete(row);
    }
    if (this.#wished.size > 0) this.#askLater();
  }
}
