import { randomUUID } from 'node:crypto';
import { counted } from '../../core/readable-text.js';
import type { LookIndex, IndexPart } from '../index/look-index.js';
import type { FrequentName } from '../wire/answers.js';
import { frequentNames } from './frequent-names.js';

/**
 * Numbers of names that hold for the whole recording. Each part has numbers of its own; a name gets
 * one here when it is first shown, so the page learns only names that it needs.
 */
class NameNumbers {
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();
  /** By part and number there: the number of the recording, plus one. */
  readonly #ofParts = new WeakMap<IndexPart, Uint32Array>();
  #lastPart: IndexPart | undefined;
  #ofLastPart: Uint32Array = new Uint32Array(0);

  of(part: IndexPart, name: number): number {
    if (part !== this.#lastPart) {
      const known = this.#ofParts.get(part) ?? new Uint32Array(part.names.count);
      this.#ofParts.set(part, known);
      this.#lastPart = part;
      this.#ofLastPart = known;
    }
    const known = this.#ofLastPart;
    if (known[name] === 0) known[name] = this.ofText(part.names.text(name)) + 1;
    return known[name]! - 1;
  }

  ofText(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.texts.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }
}

const FREQUENT = 'frequent names';

/** The names that were kept, or those that are counted now. */
function keptNames(index: LookIndex): readonly FrequentName[] {
  const { answers } = index;
  const kept = answers?.read(FREQUENT) as FrequentName[] | undefined;
  if (kept !== undefined) return kept;
  const begun = performance.now();
  const names = frequentNames(index);
  answers?.keep(FREQUENT, names, performance.now() - begun);
  return names;
}

/** How often a live recording is read again, in ms. */
const REFRESH_INTERVAL = 300;
/** Beyond this share of a processor it is read less often, so that the services do not notice it. */
const MOST_BUSY = 0.25;
const LONGEST_INTERVAL = 2000;
/** An answer that takes longer may be of the index before and after a refresh; the page asks again. */
const LONGEST_ANSWER = 5000;

/** Parts that cannot be read which the page names; the report has all. */
const MOST_PROBLEMS = 3;

/** The index of one run of the server, and what the page's questions share. */
export class Recording {
  readonly index: LookIndex;
  readonly live: boolean;
  /** Those that the index was opened with. */
  readonly paths: readonly string[];
  /** Names keep their numbers within one. */
  readonly generation = randomUUID();
  readonly names = new NameNumbers();
  isClosed = false;
  #revision = 1;
  #frequent: { names: readonly FrequentName[]; rows: number } | undefined;
  #problem: string | undefined;
  /** Answers that are being made: they look at the index for several turns of the event loop. */
  #answers = 0;
  /** When the last of them was made, in ms; undefined: nobody has asked. */
  #answered: number | undefined;
  #onIdle: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the last refresh began, and what the process had used until then. */
  #begun = 0;
  #used = process.cpuUsage();

  constructor(index: LookIndex, live: boolean, paths: readonly string[] = []) {
    this.index = index;
    this.live = live;
    this.paths = paths;
    this.#begun = performance.now();
    if (live) this.#refreshLater();
  }

  /** Grows with each refresh that brought something: rows may have other numbers then. */
  get revision(): number {
    return this.#revision;
  }

  /** The most frequent first. They stay until there are twice the rows, and so do their colours. */
  get frequentNames(): readonly FrequentName[] {
    const { rows } = this.index;
    if (this.#frequent === undefined || rows >= 2 * this.#frequent.rows) {
      this.#frequent = { names: keptNames(this.index), rows };
    }
    return this.#frequent.names;
  }

  /** Why the traces could not be read again, and what of them cannot be read, in words. */
  get problems(): string[] {
    const { unread } = this.index;
    const shown = unread.slice(0, MOST_PROBLEMS).map(({ reason }) => `not readable: ${reason}`);
    const more = unread.length - shown.length;
    return [
      ...(this.#problem === undefined ? [] : [this.#problem]),
      ...shown,
      ...(more > 0 ? [`and ${counted(more, 'more part')} not readable`] : []),
    ];
  }

  /** Makes an answer while the index stays as it is, unless that lasts for too long. */
  async answer<T>(make: () => Promise<T> | T): Promise<T> {
    this.#answers += 1;
    try {
      return await make();
    } finally {
      this.#answers -= 1;
      if (this.#answers === 0) {
        this.#answered = performance.now();
        this.#onIdle?.();
      }
    }
  }

  /** For how long nobody has asked since the last answer, in ms; 0 before the first. */
  get restMs(): number {
    if (this.#answers > 0 || this.#answered === undefined) return 0;
    return performance.now() - this.#answered;
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.index.close();
  }

  #refreshLater(): void {
    const { user, system } = process.cpuUsage(this.#used);
    const due = (user + system) / 1000 / MOST_BUSY - (performance.now() - this.#begun);
    const delay = Math.min(LONGEST_INTERVAL, Math.max(REFRESH_INTERVAL, due));
    this.#timer = setTimeout(() => void this.#refresh(), delay);
  }

  async #refresh(): Promise<void> {
    await this.#untilIdle();
    if (this.isClosed) return;
    const before = this.#problem;
    this.#begun = performance.now();
    this.#used = process.cpuUsage();
    try {
      if (await this.index.refresh()) this.#revision += 1;
      this.#problem = undefined;
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
    }
    if (this.#problem !== before) this.#revision += 1;
    if (this.#timer !== undefined) this.#refreshLater();
  }

  #untilIdle(): Promise<void> {
    if (this.#answers === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LONGEST_ANSWER);
      this.#onIdle = () => {
        clearTimeout(timer);
        this.#onIdle = undefined;
        resolve();
      };
    });
  }
}
