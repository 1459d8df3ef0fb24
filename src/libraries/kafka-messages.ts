import { TRACE_PARENT } from '../spans/context/header-format.js';
import { requiredObject } from './engine/payload.js';
import type { Send } from './library.js';

/** A header as a producer of the program takes it: text or bytes. */
type HeaderForm = (text: string) => string | Buffer;

interface HeaderForms {
  name: HeaderForm;
  value: HeaderForm;
}

const asText: HeaderForm = (text) => text;
const asBytes: HeaderForm = (text) => Buffer.from(text);
/** Of the symbol under which a client has its options. */
const CLIENT_OPTIONS = 'plt.kafka.base.options';

/** The form of which a serializer of the program makes the very bytes of a text; undefined: there is none. */
function formFor(serializer: unknown): HeaderForm | undefined {
  if (serializer === undefined) return asBytes;
  if (typeof serializer !== 'function') return undefined;
  return [asText, asBytes].find((form) => {
    try {
      const made: unknown = Reflect.apply(serializer, undefined, [form(TRACE_PARENT)]);
      return Buffer.isBuffer(made) && made.toString() === TRACE_PARENT;
    } catch {
      return false;
    }
  });
}

const formsOfClients = new WeakMap<object, HeaderForms | 'none'>();

/** The forms of headers of a producer. What sees messages before they are serialized expects its own alone. */
function formsOf(client: object): HeaderForms | 'none' {
  const known = formsOfClients.get(client);
  if (known !== undefined) return known;
  const symbol = Object.getOwnPropertySymbols(client).find(
    ({ description }) => description === CLIENT_OPTIONS,
  );
  const options = (symbol && (client as Record<symbol, unknown>)[symbol]) as
    | { serializers?: Record<string, unknown>; registry?: unknown; beforeSerialization?: unknown }
    | undefined;
  const isPlain = options?.registry === undefined && options?.beforeSerialization === undefined;
  const name = formFor(options?.serializers?.['headerKey']);
  const value = formFor(options?.serializers?.['headerValue']);
  const isKnown = options !== undefined && isPlain && name !== undefined && value !== undefined;
  const forms = isKnown ? { name, value } : 'none';
  formsOfClients.set(client, forms);
  return forms;
}

/** The headers of a message, whose names and values are texts or bytes. */
class MessageHeaders {
  readonly all: Map<unknown, unknown>;
  readonly #forms: HeaderForms;

  constructor(all: Iterable<[unknown, unknown]>, forms: HeaderForms) {
    this.all = new Map(all);
    this.#forms = forms;
  }

  #keyOf(name: string): unknown {
    for (const key of this.all.keys()) {
      if ((Buffer.isBuffer(key) ? key.toString() : key) === name) return key;
    }
    return undefined;
  }

  get(name: string): unknown {
    return this.all.get(this.#keyOf(name));
  }

  set(name: string, value: string): void {
    this.all.set(this.#keyOf(name) ?? this.#forms.name(name), this.#forms.value(value));
  }

  delete(name: string): void {
    this.all.delete(this.#keyOf(name));
  }
}

/** Headers that carry the trace on; undefined: they have another, or cannot. */
function headersWith(headers: unknown, send: Send, forms: HeaderForms): object | undefined {
  if (headers === undefined || headers instanceof Map) {
    const own = new MessageHeaders((headers ?? []) as Map<unknown, unknown>, forms);
    return send(own) ? own.all : undefined;
  }
  // Names of an object are texts.
  if (typeof headers !== 'object' || headers === null || forms.name !== asText) return undefined;
  const own = new MessageHeaders(Object.entries(headers), forms);
  return send(own) ? Object.fromEntries(own.all as Map<string, unknown>) : undefined;
}

/** A message as the program has made it, with other headers. */
function withHeaders(message: object, headers: object): object {
  return Object.create(Object.getPrototypeOf(message) as object | null, {
    ...Object.getOwnPropertyDescriptors(message),
    headers: { value: headers, enumerable: true, configurable: true, writable: true },
  }) as object;
}

const ownMessages = new WeakMap<object, readonly unknown[]>();

/**
 * Has a producer send messages that carry the trace on, if it can. It reads the list once. From then on the
 * program's options have the program's own list again.
 */
export function carryOn(client: object, options: { messages?: unknown }, send: Send): void {
  const forms = formsOf(client);
  const given = options.messages;
  if (forms === 'none' || !Array.isArray(given)) return;
  const own = ownMessages.get(given) ?? (given as readonly unknown[]);
  const carrying = own.map((message) => {
    const each = requiredObject(message, 'message') as { headers?: unknown };
    const headers = headersWith(each.headers, send, forms);
    return headers === undefined ? each : withHeaders(each, headers);
  });
  Object.defineProperty(carrying, Symbol.iterator, {
    value: () => {
      if (options.messages === carrying) Reflect.set(options, 'messages', own);
      return carrying.values();
    },
  });
  ownMessages.set(carrying, own);
  Reflect.set(options, 'messages', carrying);
}

/** A header of a record as it came: names and values are bytes. Undefined: it has none of this name. */
export function headerOf(headers: readonly unknown[], name: string): unknown {
  const bytes = Buffer.from(name);
  for (const [key, value] of headers as [unknown, unknown][]) {
    if (Buffer.isBuffer(key) && key.equals(bytes)) return value;
  }
  return undefined;
}
