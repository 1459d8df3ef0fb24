import * as names from './engine/conventions.js';
import { number, requiredObject, requiredText, text } from './engine/payload.js';
import type { Library, Operation } from './library.js';

/** Keys and values of messages are never read, and of headers only those that carry the trace. */
interface Send {
  client?: unknown;
  options?: { messages?: unknown };
}

interface Receive {
  client?: { groupId?: unknown };
  /** The record as it came. */
  raw?: { headers?: unknown };
  result?: { topic?: unknown; partition?: unknown; offset?: unknown };
}

interface Commit {
  options?: { offsets?: unknown };
}

interface Connect {
  operation?: unknown;
  host?: unknown;
  port?: unknown;
}

/** The topic of all of them; undefined: they have several. */
function commonTopic(entries: readonly unknown[]): string | undefined {
  let topic: string | undefined;
  for (const entry of entries) {
    const { topic: each } = (entry ?? {}) as { topic?: unknown };
    if (typeof each !== 'string' || (topic !== undefined && topic !== each)) return undefined;
    topic = each;
  }
  return text(topic);
}

function listOf(options: unknown, name: 'messages' | 'offsets'): readonly unknown[] {
  const list = (requiredObject(options, 'options') as Record<string, unknown>)[name];
  return Array.isArray(list) ? list : [];
}

/** A header as a producer of the program takes it: text or bytes. */
type HeaderForm = (text: string) => string | Buffer;

interface HeaderForms {
  name: HeaderForm;
  value: HeaderForm;
}

const asText: HeaderForm = (text) => text;
const asBytes: HeaderForm = (text) => Buffer.from(text);
const CARRIED = ['traceparent', 'tracestate', 'baggage'];
/** Of the symbol under which a client has its options. */
const CLIENT_OPTIONS = 'plt.kafka.base.options';

/** The form of which a serializer of the program makes the very bytes of a text; undefined: there is none. */
function formFor(serializer: unknown): HeaderForm | undefined {
  if (serializer === undefined) return asBytes;
  if (typeof serializer !== 'function') return undefined;
  const [sample = ''] = CARRIED;
  return [asText, asBytes].find((form) => {
    try {
      const made: unknown = Reflect.apply(serializer, undefined, [form(sample)]);
      return Buffer.isBuffer(made) && made.toString() === sample;
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

function isTraceparent(name: unknown): boolean {
  return (Buffer.isBuffer(name) ? name.toString() : name) === CARRIED[0];
}

/** Headers that carry the trace on; undefined: they do already, or cannot. */
function headersWith(
  headers: unknown,
  carrier: Readonly<Record<string, string>>,
  forms: HeaderForms,
): object | undefined {
  const added = Object.entries(carrier);
  if (headers === undefined || headers instanceof Map) {
    const map = new Map<unknown, unknown>(headers);
    if ([...map.keys()].some(isTraceparent)) return undefined;
    for (const [name, text] of added) map.set(forms.name(name), forms.value(text));
    return map;
  }
  // Names of an object are texts.
  if (typeof headers !== 'object' || headers === null || forms.name !== asText) return undefined;
  if (Object.keys(headers).some(isTraceparent)) return undefined;
  return {
    ...headers,
    ...Object.fromEntries(added.map(([name, text]) => [name, forms.value(text)])),
  };
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
 * Has the library send messages that carry the trace on. It reads the list once. From then on the program's
 * options have the program's own list again.
 */
function carryOn(
  options: { messages?: unknown },
  carrier: Readonly<Record<string, string>>,
  forms: HeaderForms,
): void {
  const given = listOf(options, 'messages');
  const own = ownMessages.get(given) ?? given;
  const carrying = own.map((message) => {
    const each = requiredObject(message, 'message') as { headers?: unknown };
    const headers = headersWith(each.headers, carrier, forms);
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

const send: Operation<Send> = {
  channel: 'plt:kafka:producer:sends',
  kind: 'producer',
  nests: true,
  callsBack: true,
  describe({ options }) {
    const messages = listOf(options, 'messages');
    const topic = commonTopic(messages);
    return {
      name: `publish ${topic ?? ''}`.trimEnd(),
      attributes: {
        [names.MESSAGING_SYSTEM]: 'kafka',
        [names.MESSAGING_OPERATION]: 'publish',
        [names.MESSAGING_TYPE]: 'send',
        [names.MESSAGING_DESTINATION]: topic,
        [names.MESSAGING_BATCH_SIZE]: messages.length > 1 ? messages.length : undefined,
      },
    };
  },
  carry({ client, options }, carrier) {
    const forms = formsOf(requiredObject(client, 'client'));
    if (forms !== 'none') carryOn(options!, carrier, forms);
  },
};

/** One message, from its bytes to the consumer's stream. What the stream calls at once is below it. */
const receive: Operation<Receive> = {
  channel: 'plt:kafka:consumer:receives',
  kind: 'consumer',
  nests: true,
  entersByHand: true,
  describe({ client, raw }) {
    requiredObject(raw, 'raw');
    return {
      name: 'receive',
      attributes: {
        [names.MESSAGING_SYSTEM]: 'kafka',
        [names.MESSAGING_OPERATION]: 'receive',
        [names.MESSAGING_TYPE]: 'receive',
        [names.MESSAGING_GROUP]: text(client?.groupId),
      },
    };
  },
  received({ raw }) {
    const headers = raw?.headers;
    if (!Array.isArray(headers)) return undefined;
    const carried: Record<string, string> = {};
    for (const [name, value] of headers as [unknown, unknown][]) {
      if (!Buffer.isBuffer(name) || !Buffer.isBuffer(value)) continue;
      const known = CARRIED.find((each) => name.equals(Buffer.from(each)));
      if (known !== undefined) carried[known] = value.toString();
    }
    return carried;
  },
  // One that the program has skipped has no result.
  isDone: () => true,
  finish(span, { result }) {
    const topic = text(result?.topic);
    if (topic === undefined) return;
    span.rename(`receive ${topic}`);
    span.set(names.MESSAGING_DESTINATION, topic);
    span.set(names.MESSAGING_PARTITION, number(result?.partition)?.toString());
    span.set(names.MESSAGING_KAFKA_OFFSET, number(Number(result?.offset)));
  },
};

const commit: Operation<Commit> = {
  channel: 'plt:kafka:consumer:commits',
  kind: 'client',
  nests: true,
  callsBack: true,
  describe({ options }) {
    const topic = commonTopic(listOf(options, 'offsets'));
    return {
      name: `commit ${topic ?? ''}`.trimEnd(),
      attributes: {
        [names.MESSAGING_SYSTEM]: 'kafka',
        [names.MESSAGING_OPERATION]: 'commit',
        [names.MESSAGING_TYPE]: 'settle',
        [names.MESSAGING_DESTINATION]: topic,
      },
    };
  },
};

const connect: Operation<Connect> = {
  channel: 'plt:kafka:connections:connects',
  kind: 'client',
  describe(message) {
    requiredText(message.operation, 'operation');
    return {
      name: 'kafka connect',
      attributes: {
        [names.MESSAGING_SYSTEM]: 'kafka',
        [names.ADDRESS]: text(message.host),
        [names.PORT]: number(message.port),
      },
    };
  },
};

/** `@platformatic/kafka`. */
export const kafka: Library = { name: 'kafka', operations: [send, receive, commit, connect] };
