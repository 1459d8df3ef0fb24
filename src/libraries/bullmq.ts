import * as names from './engine/conventions.js';
import { number, requiredObject, text } from './engine/payload.js';
import type { Description, Library, Operation, Send } from './library.js';

/** What an injected channel says of a call of a `Queue` or a `Worker`. */
interface Call {
  arguments?: unknown;
  self?: unknown;
}

/** What BullMQ keeps for a job's context: a text that its own telemetry writes as JSON. */
interface Telemetry {
  metadata?: unknown;
  omitContext?: unknown;
}

interface JobOptions {
  telemetry?: Telemetry;
}

/** A `Queue` or a `Worker`. */
interface Owner {
  name?: unknown;
  opts?: { telemetry?: unknown };
}

interface Job {
  opts?: JobOptions;
}

function argumentsOf(call: Call): unknown[] {
  return requiredObject(call.arguments, 'arguments') as unknown[];
}

/** The host and port that the program has named; a client of ioredis has them among its options. */
function addressOf(self: { opts?: { connection?: object } }): Record<string, unknown> {
  const connection = self.opts?.connection ?? {};
  const { options = connection } = connection as { options?: object };
  return options as Record<string, unknown>;
}

function description(
  call: Call,
  operation: 'publish' | 'process',
  type: 'send' | 'process',
): Description | undefined {
  const self = requiredObject(call.self, 'self') as Owner;
  // It records itself, by OpenTelemetry's API.
  if (self.opts?.telemetry !== undefined) return undefined;
  const queue = text(self.name) ?? '';
  const { host, port } = addressOf(self as object);
  return {
    name: `${operation} ${queue}`.trimEnd(),
    attributes: {
      'messaging.system': 'bullmq',
      'messaging.operation.name': operation,
      'messaging.operation.type': type,
      'messaging.destination.name': queue,
      'server.address': text(host),
      'server.port': number(port),
    },
  };
}

/** What a job carries; undefined: it is the program's own, or nothing. */
function carriedIn(options: JobOptions | undefined): object | undefined {
  const metadata = options?.telemetry?.metadata;
  if (typeof metadata !== 'string') return undefined;
  try {
    const carrier = JSON.parse(metadata) as unknown;
    return typeof carrier === 'object' && carrier !== null ? carrier : undefined;
  } catch {
    return undefined;
  }
}

/** The options of a job that carries the trace on, unless the program has said what it carries. */
function carrying(options: JobOptions | undefined, send: Send): JobOptions | undefined {
  const telemetry = options?.telemetry;
  if (telemetry?.omitContext === true) return options;
  const carrier = telemetry?.metadata === undefined ? {} : carriedIn(options);
  if (carrier === undefined || !send(carrier)) return options;
  return { ...options, telemetry: { ...telemetry, metadata: JSON.stringify(carrier) } };
}

const add: Operation<Call> = {
  channel: 'orchestrion:bullmq:add',
  kind: 'producer',
  nests: true,
  describe: (call) => description(call, 'publish', 'send'),
  carry(call, send) {
    const given = argumentsOf(call);
    given[2] = carrying(given[2] as JobOptions | undefined, send);
  },
};

const addBulk: Operation<Call> = {
  channel: 'orchestrion:bullmq:addBulk',
  kind: 'producer',
  nests: true,
  describe(call) {
    const described = description(call, 'publish', 'send');
    const [jobs] = argumentsOf(call) as [unknown[] | undefined];
    if (described === undefined) return undefined;
    described.attributes[names.MESSAGING_BATCH_SIZE] = number(jobs?.length);
    return described;
  },
  carry(call, send) {
    const given = argumentsOf(call) as [Job[]];
    given[0] = given[0].map((job) => {
      const opts = carrying(job.opts, send);
      return opts === undefined ? job : { ...job, opts };
    });
  },
};

/** What a function throws that has handed its job back: BullMQ goes by these names, and by the message of one. */
const HANDED_BACK = new Set([
  'DelayedError',
  'WaitingError',
  'WaitingChildrenError',
  'RateLimitError',
]);
const RATE_LIMITED = 'bullmq:rateLimitExceeded';

function isHandedBack(error: unknown): boolean {
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown };
  return HANDED_BACK.has(name as string) || message === RATE_LIMITED;
}

/** The function of the program that a job is for, and what it does. */
const process: Operation<Call> = {
  channel: 'orchestrion:bullmq:process',
  kind: 'consumer',
  nests: true,
  describe: (call) => description(call, 'process', 'process'),
  received(call) {
    const [job] = argumentsOf(call) as [Job | undefined];
    return carriedIn(job?.opts);
  },
  isAnswer: isHandedBack,
};

/** `bullmq`, into which the channels are injected. */
export const bullmq: Library = { name: 'bullmq', operations: [add, addBulk, process] };
