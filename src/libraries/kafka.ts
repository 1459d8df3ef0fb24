import * as names from './engine/conventions.js';
import { number, requiredObject, requiredText, text } from './engine/payload.js';
import type { Library, Operation } from './library.js';

/** Keys, values and headers of messages are never read. */
interface Send {
  options?: { messages?: unknown };
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
        [names.MESSAGING_SYSTEM]: 'kafka',
        [names.MESSAGING_OPERATION]: 'publish',
        [names.MESSAGING_TYPE]: 'send',
        [names.MESSAGING_DESTINATION]: topic,
        [names.MESSAGING_BATCH_SIZE]: messages.length > 1 ? messages.length : undefined,
      },
    };
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
export const kafka: Library = { name: 'kafka', operations: [send, commit, connect] };
