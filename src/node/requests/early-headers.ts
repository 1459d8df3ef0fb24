import type { CallHeaders } from './call-recorder.js';

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** A copy of the headers of a request that Node has not seen yet. */
export class EarlyHeaders implements CallHeaders {
  readonly #list: unknown[] | undefined;
  readonly #object: Record<PropertyKey, unknown>;
  readonly #path: string | undefined;

  /**
   * @param given names and values in turn, or an object.
   * @param path of the request; default: that of the headers of HTTP/2.
   * @throws what a getter of it throws.
   */
  constructor(given: object, path?: string) {
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
    this.#path = path;
  }

  get path(): string | undefined {
    return this.#path ?? text(this.get(':path'));
  }

  /** The headers that go to Node. */
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

  set(name: string, value: string): void {
    const list = this.#list;
    if (list === undefined) {
      const key = Object.keys(this.#object).find((each) => each.toLowerCase() === name);
      this.#object[key ?? name] = value;
      return;
    }
    const at = list.findIndex((each, i) => i % 2 === 0 && text(each)?.toLowerCase() === name);
    if (at === -1) list.push(name, value);
    else list[at + 1] = value;
  }

  delete(name: string): void {
    const list = this.#list;
    if (list === undefined) {
      for (const key of Object.keys(this.#object)) {
        if (key.toLowerCase() === name) Reflect.deleteProperty(this.#object, key);
      }
      return;
    }
    for (let i = list.length - 2; i >= 0; i -= 2) {
      if (text(list[i])?.toLowerCase() === name) list.splice(i, 2);
    }
  }
}
