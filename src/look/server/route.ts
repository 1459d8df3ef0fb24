import type { LaneFold } from '../index/look-index.js';
import type { Column } from '../wire/columns.js';
import type { Recording } from './recording.js';

/** The answer of a route. The bodies of a stream are sent as they come. */
export type Answer =
  | { json: unknown }
  | { columns: Readonly<Record<string, Column>>; meta: unknown }
  | { stream: AsyncIterable<Uint8Array> };

export interface Question {
  recording: Recording;
  query: Query;
  /** The JSON of a POST, otherwise undefined. Anything may be in it. */
  body: unknown;
  /** Fires when the page no longer waits. */
  signal: AbortSignal;
}

/** One address below `/data/`. Each is a file in routes/, listed in view-server.ts. */
export interface Route {
  path: `/data/${string}`;
  method: 'GET' | 'POST';
  /** @throws WrongQuestion if the query or the body is not as it must be. */
  answer(question: Question): Answer | Promise<Answer>;
}

/** The page asked for something that cannot be: status 400, or the given one. */
export class WrongQuestion extends Error {
  override readonly name = 'WrongQuestion';
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

/** Ns: Heph's times have 64 bits. */
const LONGEST = 2 ** 64;

/** The parameters of a request, checked when they are asked for. */
export class Query {
  readonly #parameters: URLSearchParams;

  constructor(parameters: URLSearchParams) {
    this.#parameters = parameters;
  }

  /** The same for the same parameters in the same order. */
  get key(): string {
    return this.#parameters.toString();
  }

  text(name: string): string | undefined {
    return this.#parameters.get(name) ?? undefined;
  }

  /** @throws WrongQuestion unless it is a finite number from `low` to `high`. */
  number(name: string, low: number, high: number): number {
    const text = this.text(name);
    const value = text === undefined || text === '' ? NaN : Number(text);
    if (value >= low && value <= high) return value;
    throw new WrongQuestion(
      `${name} must be a number from ${low} to ${high}, got ${JSON.stringify(text ?? '')}`,
    );
  }

  /** @throws WrongQuestion unless it is an integer from `low` to `high`. */
  integer(name: string, low: number, high: number): number {
    const value = this.number(name, low, high);
    if (Number.isInteger(value)) return value;
    throw new WrongQuestion(`${name} must be an integer, got ${value}`);
  }

  /** Integers below `end` as `0-3,7`. @throws WrongQuestion if one is not, or there are over `most`. */
  integers(name: string, end: number, most: number): number[] {
    const numbers: number[] = [];
    for (const part of (this.text(name) ?? '').split(',')) {
      if (part === '') continue;
      const [, first, last = first] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part) ?? [];
      if (first === undefined || Number(last) >= end || Number(last) < Number(first)) {
        throw new WrongQuestion(`${name} must be numbers below ${end} such as 0-3,7`);
      }
      if (numbers.length + Number(last) - Number(first) >= most) {
        throw new WrongQuestion(`${name} must be at most ${most} numbers`);
      }
      for (let each = Number(first); each <= Number(last); each++) numbers.push(each);
    }
    return numbers;
  }

  /** `from` and `to` in ns since time 0. @throws WrongQuestion unless from < to. */
  range(): { from: number; to: number } {
    const from = this.number('from', -LONGEST, LONGEST);
    const to = this.number('to', -LONGEST, LONGEST);
    if (from < to) return { from, to };
    throw new WrongQuestion(`from must be before to, got ${from} and ${to}`);
  }
}

/** No screen shows more tracks at once. */
export const MOST_TRACKS = 1024;

/** `fold`: the lanes of a track before those that merge, except of the tracks that are `open`. */
export function foldIn(query: Query, tracks: number): LaneFold | undefined {
  if (query.text('fold') === undefined) return undefined;
  return {
    lanes: query.integer('fold', 1, 32_768),
    open: new Set(query.integers('open', tracks, MOST_TRACKS)),
  };
}
