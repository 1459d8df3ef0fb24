import type { Column } from '../wire/columns.js';
import type { Recording } from './recording.js';
import type { Query } from './query.js';

/** What a route answers. The bodies of a stream are sent as they come. */
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
