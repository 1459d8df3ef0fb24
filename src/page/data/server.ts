import { TOKEN_HEADER } from '../../look/wire/answers.js';
import type { ErrorAnswer } from '../../look/wire/answers.js';
import { decodeColumns } from '../../look/wire/columns.js';
import { Store } from '../state/store.js';

/** Whether the server answers: `gone` is tried again. */
interface Connection {
  state: 'good' | 'gone' | 'refused';
  /** Says what to do. */
  words: string;
}

/** Typed arrays by name, and what is said of them. */
interface Frame<Columns, Meta> {
  columns: Columns;
  meta: Meta;
}

export type Fields = Readonly<Record<string, string | number>>;

const TOKEN_KEY = 'tracewright-token';

/** An answer that is an error. */
class ServerError extends Error {
  override readonly name = 'ServerError';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Nobody answers, which the page says once for all its parts. */
export class NoServerError extends Error {
  override readonly name = 'NoServerError';
}

const TOKEN_FIELD = /[#?&]token=([^&]*)/;

/** Whether the address is the printed one. */
export function hasToken(): boolean {
  return TOKEN_FIELD.test(location.hash);
}

/**
 * The token of the printed address, which leaves the URL and stays in this tab. So a link that is
 * copied from it does not contain it.
 */
export function takeToken(): string | undefined {
  const given = TOKEN_FIELD.exec(location.hash)?.[1];
  if (given !== undefined) {
    const rest = location.hash.replace(/([#?&])token=[^&]*&?/, '$1').replace(/[#?&]$/, '');
    history.replaceState(null, '', rest === '' ? '#' : rest);
    sessionStorage.setItem(TOKEN_KEY, given);
    return given;
  }
  return sessionStorage.getItem(TOKEN_KEY) ?? undefined;
}

/** The server of this page. Every request for data passes here. */
export class Server {
  readonly connection = new Store<Connection>({ state: 'good', words: '' });
  readonly #token: string;

  constructor(token: string | undefined) {
    this.#token = token ?? '';
  }

  /** @throws ServerError if the answer is one; `AbortError` after `signal`. */
  async json<T>(path: string, fields: Fields = {}, signal?: AbortSignal): Promise<T> {
    const response = await this.#fetch(path, fields, undefined, signal);
    return (await response.json()) as T;
  }

  /** Like `json`, with a question too long for a URL. */
  async post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    const response = await this.#fetch(path, {}, body, signal);
    return (await response.json()) as T;
  }

  /** Typed arrays by name, as `encodeColumns` of the server wrote them. */
  async columns<Columns, Meta = unknown>(
    path: string,
    fields: Fields,
    signal?: AbortSignal,
  ): Promise<Frame<Columns, Meta>> {
    const response = await this.#fetch(path, fields, undefined, signal);
    const frame: unknown = decodeColumns(await response.arrayBuffer());
    return frame as Frame<Columns, Meta>;
  }

  /** The body as it comes, for answers that grow. */
  async stream(
    path: string,
    fields: Fields,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    return (await this.#fetch(path, fields, undefined, signal)).body!;
  }

  async #fetch(
    path: string,
    fields: Fields,
    body: unknown,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const query = new URLSearchParams(
      Object.entries(fields).map(([name, value]) => [name, String(value)]),
    ).toString();
    let response: Response;
    try {
      response = await fetch(query === '' ? path : `${path}?${query}`, {
        headers: { [TOKEN_HEADER]: this.#token },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (signal?.aborted === true) throw error;
      const words = 'The server does not answer. Run `tracewright view` again.';
      this.connection.set({ state: 'gone', words });
      throw new NoServerError(words);
    }
    if (response.ok) {
      this.connection.set({ state: 'good', words: '' });
      return response;
    }
    const { error } = (await response.json()) as ErrorAnswer;
    if (response.status === 401 || response.status === 403) {
      this.connection.set({ state: 'refused', words: `The server refuses: ${error}.` });
    }
    throw new ServerError(error, response.status);
  }
}
