import type { Attributes } from './engine/attribute-names.js';
import * as names from './engine/conventions.js';
import { failureOf } from './engine/failure.js';
import { number, requiredObject, text } from './engine/payload.js';
import type { Failure, Library, Operation, Send } from './library.js';

interface Message {
  headers?: Readonly<Record<string, unknown>>;
  offset?: unknown;
}

interface TopicMessages {
  topic?: unknown;
  messages?: Message[];
}

/** The message of an injected channel for a call of `sendBatch`. */
interface Sending {
  arguments?: unknown;
}

/** The message of one for a call of the program's `eachMessage` or `eachBatch`. */
interface Receiving {
  topic?: unknown;
  partition?: unknown;
  message?: Message;
  batch?: { messages?: unknown };
  runner?: { consumerGroup?: { groupId?: unknown } };
}

interface Batch {
  topicMessages?: TopicMessages[];
}

function batchOf(call: Sending): Batch {
  const [batch] = requiredObject(call.arguments, 'arguments') as unknown[];
  return requiredObject(batch, 'batch');
}

function described(
  operation: 'publish' | 'process',
  type: 'send' | 'process',
  topic: string | undefined,
  more: Attributes,
): { name: string; attributes: Attributes } {
  return {
    name: `${operation} ${topic ?? ''}`.trimEnd(),
    attributes: {
      'messaging.system': 'kafka',
      'messaging.operation.name': operation,
      'messaging.operation.type': type,
      'messaging.destination.name': topic,
      ...more,
    },
  };
}

/** An error of the protocol has a type, such as `UNKNOWN_TOPIC_OR_PARTITION`. */
function failure(error: unknown): Failure {
  const { type } = failureOf({ code: (error as { type?: unknown } | null)?.type, name: '' });
  return type === names.OTHER ? failureOf(error) : { type };
}

/** A message of the program, with headers of its own that carry the trace on. */
function carrying(message: Message, send: Send): Message {
  const headers = { ...message.headers };
  return send(headers) ? { ...message, headers } : message;
}

const publish: Operation<Sending> = {
  channel: 'orchestrion:kafkajs:publish',
  kind: 'producer',
  describe(call) {
    const { topicMessages = [] } = batchOf(call);
    const topics = new Set(topicMessages.map(({ topic }) => topic));
    const count = topicMessages.reduce((sum, { messages }) => sum + (messages?.length ?? 0), 0);
    const topic = topics.size === 1 ? text(topicMessages[0]?.topic) : undefined;
    const size = count > 1 ? count : undefined;
    return described('publish', 'send', topic, { 'messaging.batch.message_count': size });
  },
  carry(call, send) {
    const batch = batchOf(call);
    const topicMessages = batch.topicMessages?.map((each) => {
      const messages = each.messages?.map((message) => carrying(message, send));
      return messages === undefined ? each : { ...each, messages };
    });
    (call.arguments as unknown[])[0] = { ...batch, topicMessages };
  },
  failure,
};

/** The function of the program that messages are for, and what it does. */
const process: Operation<Receiving> = {
  channel: 'orchestrion:kafkajs:process',
  kind: 'consumer',
  nests: true,
  handlesPromises: true,
  describe({ topic, partition, message, batch, runner }) {
    const messages = batch?.messages;
    return described('process', 'process', text(topic), {
      'messaging.destination.partition.id': number(partition)?.toString(),
      'messaging.consumer.group.name': text(runner?.consumerGroup?.groupId),
      'messaging.kafka.offset': offsetOf(message?.offset),
      'messaging.batch.message_count': Array.isArray(messages) ? messages.length : undefined,
    });
  },
  // Those of a batch have a sender each.
  received: ({ message }) => message?.headers,
  failure,
};

/** An offset has 64 bits, and comes as a text. */
function offsetOf(value: unknown): number | undefined {
  return typeof value === 'string' ? number(Number(value)) : undefined;
}

/** `kafkajs`, into which the channels are injected. */
export const kafkajs: Library = { name: 'kafkajs', operations: [publish, process] };
