import type { TableColumns, TableMeta } from '../../../look/wire/view-answers.js';
import { choiceFields } from '../../data/choice.js';
import type { Choice } from '../../data/choice.js';
import type { RecordingData } from '../../data/recording-data.js';
import type { Server } from '../../data/server.js';

interface TableOrder {
  choice: Choice;
  sort: string;
  descending: boolean;
  /** With states and marks of threads. */
  states: boolean;
}

/** Rows of the list, as columns. */
export type MatchPage = TableColumns & Pick<TableMeta, 'requests' | 'traces'>;

const PAGE_ROWS = 200;
const MOST_PAGES = 40;

/** The rows of one order of the table, page by page as they are scrolled to. */
export class TablePages {
  /** Undefined until the first page is there. */
  total: number | undefined;
  /** Why there are none, in words. */
  words = '';
  onChange: () => void = () => undefined;
  readonly #server: Server;
  readonly #recording: RecordingData;
  readonly #order: TableOrder;
  readonly #pages = new Map<number, MatchPage>();
  readonly #leaving = new AbortController();
  #asked: number | undefined;
  #wanted: number[] = [];

  constructor(server: Server, recording: RecordingData, order: TableOrder) {
    this.#server = server;
    this.#recording = recording;
    this.#order = order;
  }

  close(): void {
    this.#leaving.abort();
  }

  /** The page and the line in it; undefined: not there yet. */
  at(line: number): { page: MatchPage; at: number } | undefined {
    const page = this.#pages.get(Math.floor(line / PAGE_ROWS));
    return page === undefined ? undefined : { page, at: line % PAGE_ROWS };
  }

  /** Says which lines are shown. */
  want(first: number, last: number): void {
    this.#wanted = [];
    for (let page = Math.floor(first / PAGE_ROWS); page <= Math.floor(last / PAGE_ROWS); page++) {
      if (!this.#pages.has(page)) this.#wanted.push(page);
    }
    if (this.#asked === undefined) void this.#ask();
  }

  /** One page after the other, and only those that are still wanted then. */
  async #ask(): Promise<void> {
    for (let page = this.#wanted.shift(); page !== undefined; page = this.#wanted.shift()) {
      this.#asked = page;
      try {
        await this.#fetch(page);
        this.words = '';
      } catch (error) {
        if (this.#leaving.signal.aborted) return;
        this.words = error instanceof Error ? error.message : String(error);
        this.#wanted = [];
      }
      this.onChange();
    }
    this.#asked = undefined;
  }

  async #fetch(page: number): Promise<void> {
    const { choice, sort, descending, states } = this.#order;
    const fields = {
      ...choiceFields(choice),
      sort,
      descending: String(descending),
      states: String(states),
      first: page * PAGE_ROWS,
      count: PAGE_ROWS,
      names: this.#recording.names.length,
    };
    const answer = await this.#server.columns<TableColumns, TableMeta>(
      '/data/table',
      fields,
      this.#leaving.signal,
    );
    const { total, firstName, names, requests, traces } = answer.meta;
    this.#recording.addNames(firstName, names);
    this.total = total;
    this.#pages.set(page, { ...answer.columns, requests, traces });
    for (const old of this.#pages.keys()) {
      if (this.#pages.size <= MOST_PAGES) break;
      this.#pages.delete(old);
    }
  }
}
