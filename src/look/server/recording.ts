import { randomUUID } from 'node:crypto';
import type { LookIndex } from '../index/look-index.js';
import { frequentNames } from './frequent-names.js';
import { NameNumbers } from './name-numbers.js';

/** How often a live recording is read again, in ms. */
const REFRESH_INTERVAL = 300;
/** Beyond this share of a processor it is read less often, so that the services do not notice it. */
const MOST_BUSY = 0.25;
const LONGEST_INTERVAL = 2000;

/** The index of one run of the server, and what the page's questions share. */
export class Recording {
  readonly index: LookIndex;
  readonly live: boolean;
  /** Those that the index was opened with. */
  readonly paths: readonly string[];
  /** Names keep their numbers within one. */
  readonly generation = randomUUID();
  readonly names = new NameNumbers();
  #revision = 1;
  #frequent: { names: readonly string[]; rows: number } | undefined;
  #problem: string | undefined;
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
  get frequentNames(): readonly string[] {
    const { rows } = this.index;
    if (this.#frequent === undefined || rows >= 2 * this.#frequent.rows) {
      this.#frequent = { names: frequentNames(this.index), rows };
    }
    return this.#frequent.names;
  }

  /** Why the traces could not be read again, in words. */
  get problems(): string[] {
    return this.#problem === undefined ? [] : [this.#problem];
  }

  close(): void {
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
}
