import { number, requiredObject, text } from './engine/payload.js';
import type { Description, Library, Operation } from './library.js';

/** The message of an injected channel for `sendMessage` and `dispatchMessage` of a channel of AMQP. */
interface Call {
  arguments?: unknown;
  self?: unknown;
}

interface Fields {
  exchange?: unknown;
  routingKey?: unknown;
}

interface Headers {
  headers?: object;
}

function argumentsOf(call: Call): readonly unknown[] {
  return requiredObject(call.arguments, 'arguments') as readonly unknown[];
}

/** Queues that the server names. */
const TEMPORARY = /^amq\.(?:gen|rabbitmq)/;

/** The exchange, or the queue that the default exchange sends to. */
function destinationOf({ exchange, routingKey }: Fields): string {
  const name = text(exchange) ?? text(routingKey) ?? '';
  return TEMPORARY.test(name) ? '(temporary)' : name;
}

function description(
  call: Call,
  fields: Fields,
  operation: 'publish' | 'process',
  type: 'send' | 'process',
): Description {
  const { connection } = (call.self ?? {}) as { connection?: { stream?: object } };
  const { remoteAddress, remotePort } = (connection?.stream ?? {}) as Record<string, unknown>;
  const destination = destinationOf(fields);
  return {
    name: `${operation} ${destination}`.trimEnd(),
    attributes: {
      'messaging.system': 'rabbitmq',
      'messaging.operation.name': operation,
      'messaging.operation.type': type,
      'messaging.destination.name': destination,
      'messaging.rabbitmq.destination.routing_key': text(fields.routingKey),
      'server.address': text(remoteAddress),
      'server.port': number(remotePort),
    },
  };
}

const publish: Operation<Call> = {
  channel: 'orchestrion:amqplib:publish',
  kind: 'producer',
  describe(call) {
    const [fields] = argumentsOf(call);
    return description(call, requiredObject(fields, 'fields'), 'publish', 'send');
  },
  // An object of the library's own, which inherits the program's headers.
  carry(call, send) {
    const { headers } = (argumentsOf(call)[1] ?? {}) as Headers;
    if (headers !== undefined) send(headers);
  },
};

/** The function of the program that a message is for, and what it does. */
const process: Operation<Call> = {
  channel: 'orchestrion:amqplib:process',
  kind: 'consumer',
  nests: true,
  describe(call) {
    const [fields, message] = argumentsOf(call);
    // The server has cancelled the consumer.
    if (message === null) return undefined;
    return description(call, requiredObject(fields, 'fields'), 'process', 'process');
  },
  received(call) {
    const { properties } = (argumentsOf(call)[1] ?? {}) as { properties?: Headers };
    return properties?.headers;
  },
};

/** `amqplib`, into which the channels are injected. */
export const amqplib: Library = { name: 'amqplib', operations: [publish, process] };
