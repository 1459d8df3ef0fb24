import { type FindLine, FOUND_STRETCHES } from '../../look/wire/view-answers.js';
import { Store } from '../state/store.js';
import type { ViewState } from '../shell/address.js';
import { type Choice, choiceFields, choiceOf } from './choice.js';
import type { RecordingData } from './recording-data.js';
import type { Server } from './server.js';

/** Rows that the time line shows lit, while all others are dimmed: matches of a search, for example. */
export interface LitRows {
  /** Undefined: nothing is dimmed. */
  rows: ReadonlySet<number> | undefined;
  /** Where rows begin that are lit: shares of the whole recording, from 0 to 1. */
  marks: readonly number[];
  /** The search that has found all of them; undefined: it has not ended. */
  text: string | undefined;
}

export const NOTHING_LIT: LitRows = { rows: undefined, marks: [], text: undefined };

/** Matches of the search so far. */
export interface Found {
  text: string;
  count: number;
  /** The first matches, in order of their start. */
  rows: readonly number[];
  starts: readonly number[];
  /** How much of the recording was looked at, from 0 to 1. */
  searched: number;
  state: 'none' | 'searching' | 'done' | 'failed';
  /** Why it failed. */
  words: string;
}

const NOTHING: Found = {
  text: '',
  count: 0,
  rows: [],
  starts: [],
  searched: 0,
  state: 'none',
  words: '',
};

/** Time in which a person goes on typing, in ms. */
const TYPING = 200;

/** Searches by the text of the view, and lights the matches. */
export class Search {
  readonly found = new Store<Found>(NOTHING);
  readonly #server: Server;
  readonly #lit: Store<LitRows>;
  #running: AbortController | undefined;
  #asked = '';
  #timer: number | undefined;

  constructor(
    server: Server,
    lit: Store<LitRows>,
    view: Store<ViewState>,
    recording: RecordingData,
  ) {
    this.#server = server;
    this.#lit = lit;
    const update = (): void => {
      const { where, hidden } = choiceOf(view.value);
      const text = where.trim();
      const { generation, revision } = recording.answer ?? { generation: '', revision: 0 };
      const asked = `${generation} ${revision} ${hidden} ${text}`;
      if (generation === '' || asked === this.#asked) return;
      this.#asked = asked;
      window.clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => void this.#search({ where: text, hidden }), TYPING);
    };
    view.watch(update);
    recording.store.watch(update);
  }

  async #search(choice: Pick<Choice, 'where' | 'hidden'>): Promise<void> {
    const { where: text } = choice;
    this.#running?.abort();
    const running = (this.#running = new AbortController());
    if (text === '') {
      this.found.set(NOTHING);
      this.#lit.set(NOTHING_LIT);
      return;
    }
    this.found.set({ ...NOTHING, text, state: 'searching' });
    const rows: number[] = [];
    const starts: number[] = [];
    const marks: number[] = [];
    try {
      const fields = choiceFields({ ...choice, from: undefined, to: undefined });
      const stream = await this.#server.stream('/data/find', fields, running.signal);
      for await (const line of linesOf(stream)) {
        const {
          count,
          rows: more,
          starts: times,
          stretches,
          searched,
          done,
        } = JSON.parse(line) as FindLine;
        // One by one: a call with thousands of arguments can exceed the stack.
        for (const row of more) rows.push(row);
        for (const start of times) starts.push(start);
        for (const stretch of stretches) marks.push(stretch / FOUND_STRETCHES);
        this.#show({ text, count, searched, state: done ? 'done' : 'searching' }, rows, starts);
        const all = done ? text : undefined;
        this.#lit.set({ rows: new Set(rows), marks: [...marks], text: all });
      }
    } catch (error) {
      if (running.signal.aborted) return;
      const words = error instanceof Error ? error.message : String(error);
      this.found.set({ ...NOTHING, text, state: 'failed', words });
      this.#lit.set(NOTHING_LIT);
    }
  }

  #show(
    found: Pick<Found, 'text' | 'count' | 'searched' | 'state'>,
    rows: number[],
    starts: number[],
  ): void {
    const order = [...rows.keys()].sort((a, b) => starts[a]! - starts[b]!);
    this.found.set({
      ...found,
      rows: order.map((at) => rows[at]!),
      starts: order.map((at) => starts[at]!),
      words: '',
    });
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = stream.pipeThrough(new TextDecoderStream() as never).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: string };
    if (done) return;
    const lines = (rest + (value ?? '')).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}

const MOST = 20;
/** A term: it has no space outside of quotes, of which the last may not be closed yet. */
const TERM = /(?:[^\s"]|"[^"]*(?:"|$))+/g;

/** Texts of the search that go on with one of the terms instead of the last words, as many as it has. */
export function suggestedTerms(text: string, terms: readonly string[]): string[] {
  const words = [...text.matchAll(TERM)];
  if (!text.endsWith(words.at(-1)?.[0] ?? '')) return [];
  for (const { index } of words) {
    const last = text.slice(index);
    const typed = plain(last);
    const begin = terms.filter((term) => plain(term).startsWith(typed));
    const contain = terms.filter((term) => plain(term).includes(typed, 1));
    const found = [...new Set([...begin, ...contain])].filter((term) => term !== last);
    if (found.length > 0) return found.slice(0, MOST).map((term) => text.slice(0, index) + term);
  }
  return [];
}

/** Who types a value does not know yet that it needs quotes. */
function plain(term: string): string {
  return term.replaceAll('"', '').toLowerCase();
}
