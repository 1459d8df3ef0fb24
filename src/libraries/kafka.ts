import * as names from './engine/conventions.js';
import { number, requiredObject, requiredText, text } from './engine/payload.js';
import { carryOn, headerOf } from './kafka-messages.js';
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
        'messaging.system': 'kafka',
        'messaging.operation.name': 'publish',
        'messaging.operation.type': 'send',
        'messaging.destination.name': topic,
        'messaging.batch.message_count': messages.length > 1 ? messages.length : undefined,
      },
    };
  },
  carry({ client, options }, send) {
    carryOn(requiredObject(client, 'client'), options!, send);
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
        'messaging.system': 'kafka',
        'messaging.operation.name': 'receive',
        'messaging.operation.type': 'receive',
        'messaging.consumer.group.name': text(client?.groupId),
      },
    };
  },
  received({ raw }) {
    const headers = raw?.headers;
    if (!Array.isArray(headers)) return undefined;
    return { get: (name: string) => headerOf(headers, name) };
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
        'messaging.system': 'kafka',
        'messaging.operation.name': 'commit',
        'messaging.operation.type': 'settle',
        'messaging.destination.name': topic,
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
        'messaging.system': 'kafka',
        'server.address': text(message.host),
        'server.port': number(message.port),
      },
    };
  },
};

/** `@platformatic/kafka`. */
export const kafka: Library = { name: 'kafka', operations: [send, receive, commit, connect] };
