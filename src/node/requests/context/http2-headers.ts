import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { Duplex } from 'node:stream';
import type { CallHeaders, CallTarget } from '../calls.js';

/** The class of sessions, which Node does not export. */
export interface SessionClass {
  request: (this: ClientHttp2Session, headers?: unknown, ...rest: unknown[]) => ClientHttp2Stream;
}

/** Parts of a session that Node does not document, by the descriptions of their symbols. */
function partOf(session: ClientHttp2Session, description: string): unknown {
  const symbol = Object.getOwnPropertySymbols(session).find(
    (each) => each.description === description,
  );
  return symbol === undefined ? undefined : Reflect.get(session, symbol);
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** A copy of the headers of an HTTP/2 request that Node has not seen yet. */
class EarlyHeaders implements CallHeaders {
  readonly #list: unknown[] | undefined;
  readonly #object: Record<PropertyKey, unknown>;

  /**
   * @param given names and values in turn, or an object.
   * @throws what a getter of it throws.
   */
  constructor(given: object) {
    if (Array.isArray(given)) {
      this.#list = [...(given as unknown[])];
      this.#object = {};
      // Which headers are sensitive is a property of the array.
      for (const symbol of Object.getOwnPropertySymbols(given)) {
        Reflect.set(this.#list, symbol, Reflect.get(given, symbol));
      }
    } else {
      this.#list = undefined;
      this.#object = { ...given };
    }
  }

  /** What goes to Node. */
  get all(): unknown {
    return this.#list ?? this.#object;
  }

  get(name: string): unknown {
    const list = this.#list;
    if (list === undefined) {
      const key = Object.keys(this.#object).find((each) => each.toLowerCase() === name);
      return key === undefined ? undefined : this.#object[key];
    }
    const at = list.findIndex((each, i) => i % 2 === 0 && text(each)?.toLowerCase() === name);
    return at === -1 ? undefined : list[at + 1];
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  set(name: string, value: string): void {
    if (this.#list === undefined) this.#object[name] = value;
    else this.#list.push(name, value);
  }
}

/** Undefined: they are none, or a getter of the program throws, as it will when Node reads it. */
export function earlyHeaders(given: unknown): EarlyHeaders | undefined {
  if (given !== undefined && (typeof given !== 'object' || given === null)) return undefined;
  try {
    return new EarlyHeaders(given ?? {});
  } catch {
    return undefined;
  }
}

/** Where a request goes; undefined: the session does not say. */
export function http2Target(
  session: ClientHttp2Session,
  headers: Pick<EarlyHeaders, 'get'>,
): CallTarget | undefined {
  const authority =
    text(headers.get(':authority')) ??
    text(headers.get('host')) ??
    text(partOf(session, 'authority'));
  if (authority === undefined) return undefined;
  const protocol = text(partOf(session, 'protocol')) ?? 'https:';
  return {
    method: text(headers.get(':method')) ?? 'GET',
    scheme: text(headers.get(':scheme')) ?? protocol.slice(0, -1),
    authority,
    path: text(headers.get(':path')) ?? '/',
  };
}

/** Whether the program has loaded node:http2, which takes long. */
function isLoaded(): boolean {
  const { moduleLoadList } = process as { moduleLoadList?: readonly string[] };
  return moduleLoadList?.includes('NativeModule http2') === true;
}

/** The class of the sessions of clients, if the program has loaded node:http2. It takes a session to find it. */
export function sessionClass(): SessionClass | undefined {
  if (!isLoaded()) return undefined;
  const connection = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const session = process
    .getBuiltinModule('node:http2')
    .connect('http://localhost', { createConnection: () => connection });
  session.on('error', () => undefined);
  const found = Object.getPrototypeOf(session) as SessionClass;
  session.destroy();
  return found;
}
