import * as names from './engine/conventions.js';
import { beginsTrace, noteAdded } from './engine/job-chains.js';
import { number, requiredObject, text } from './engine/payload.js';
import type { Description, Library, Operation, Send } from './library.js';

/** The message of an injected channel for a call of a `Queue` or a `Worker`. */
interface Call {
  arguments?: unknown;
  self?: unknown;
}

/** BullMQ's metadata for a job's context: a text that its own telemetry writes as JSON. */
interface Telemetry {
  metadata?: unknown;
  omitContext?: unknown;
}

interface JobOptions {
  telemetry?: Telemetry;
}

/** A `Queue`, a `Worker` or a `FlowProducer`. */
interface Owner {
  name?: unknown;
  opts?: { telemetry?: unknown };
}

/** A job that is added, or that runs. */
interface Job {
  name?: unknown;
  opts?: JobOptions;
  repeatJobKey?: unknown;
  timestamp?: unknown;
  attemptsStarted?: unknown;
  attemptsMade?: unknown;
}

/** A job with those that run before it, of any queue. */
interface Flow extends Job {
  queueName?: unknown;
  children?: Flow[];
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

function queueOf({ self }: Call): unknown {
  return (self as Owner).name;
}

/** Jobs of a kind do the same. */
function kindOf(queue: unknown, name: unknown): string {
  return `${String(queue)} ${String(name)}`;
}

function description(
  call: Call,
  operation: 'publish' | 'process',
  type: 'send' | 'process',
  named = queueOf(call),
): Description | undefined {
  const self = requiredObject(call.self, 'self') as Owner;
  // It records itself, by OpenTelemetry's API.
  if (self.opts?.telemetry !== undefined) return undefined;
  const queue = text(named) ?? '';
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

/** The metadata of a job; undefined: it is the program's own, or missing. */
function carriedIn(options: JobOptions | undefined): Record<string, unknown> | undefined {
  const metadata = options?.telemetry?.metadata;
  if (typeof metadata !== 'string') return undefined;
  try {
    const carrier = JSON.parse(metadata) as unknown;
    return typeof carrier === 'object' && carrier !== null
      ? (carrier as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The options of a job that carries the trace on, unless the program has said what it carries. */
function carrying(
  options: JobOptions | undefined,
  kind: string,
  send: Send,
): JobOptions | undefined {
  const telemetry = options?.telemetry;
  if (telemetry?.omitContext === true) return options;
  const carrier = telemetry?.metadata === undefined ? {} : carriedIn(options);
  if (carrier === undefined || !send(carrier)) return options;
  noteAdded(carrier, kind);
  return { ...options, telemetry: { ...telemetry, metadata: JSON.stringify(carrier) } };
}

const add: Operation<Call> = {
  channel: 'orchestrion:bullmq:add',
  kind: 'producer',
  nests: true,
  describe: (call) => description(call, 'publish', 'send'),
  carry(call, send) {
    const given = argumentsOf(call);
    const kind = kindOf(queueOf(call), given[0]);
    given[2] = carrying(given[2] as JobOptions | undefined, kind, send);
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
      const opts = carrying(job.opts, kindOf(queueOf(call), job.name), send);
      return opts === undefined ? job : { ...job, opts };
    });
  },
};

/** A job that is made again and again. It has a template for the options of each. */
const schedule: Operation<Call> = {
  channel: 'orchestrion:bullmq:schedule',
  kind: 'producer',
  nests: true,
  describe: (call) => description(call, 'publish', 'send'),
  carry(call, send) {
    const given = argumentsOf(call);
    const [id] = given;
    const template = (given[2] ?? {}) as Job;
    const opts = carrying(template.opts, kindOf(queueOf(call), template.name ?? id), send);
    if (opts !== undefined) given[2] = { ...template, opts };
  },
};

/** A flow whose jobs all carry the trace on. */
function carryingFlow(flow: Flow, send: Send): Flow {
  const opts = carrying(flow.opts, kindOf(flow.queueName, flow.name), send);
  const own: Flow = opts === undefined ? { ...flow } : { ...flow, opts };
  if (flow.children !== undefined) {
    own.children = flow.children.map((each) => carryingFlow(each, send));
  }
  return own;
}

const addFlow: Operation<Call> = {
  channel: 'orchestrion:bullmq:addFlow',
  kind: 'producer',
  nests: true,
  describe(call) {
    const flow = requiredObject(argumentsOf(call)[0], 'flow') as Flow;
    return description(call, 'publish', 'send', flow.queueName);
  },
  carry(call, send) {
    const given = argumentsOf(call) as [Flow];
    given[0] = carryingFlow(given[0], send);
  },
};

const addFlows: Operation<Call> = {
  channel: 'orchestrion:bullmq:addFlows',
  kind: 'producer',
  nests: true,
  describe(call) {
    const described = description(call, 'publish', 'send', '');
    const [flows] = argumentsOf(call) as [unknown[] | undefined];
    if (described === undefined) return undefined;
    described.attributes[names.MESSAGING_BATCH_SIZE] = number(flows?.length);
    return described;
  },
  carry(call, send) {
    const given = argumentsOf(call) as [Flow[]];
    given[0] = given[0].map((flow) => carryingFlow(flow, send));
  },
};

/** Errors with which a function hands its job back: BullMQ goes by these names, and by the message of one. */
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
  describe(call) {
    const described = description(call, 'process', 'process');
    const [job] = argumentsOf(call) as [Job | undefined];
    // Of those of a scheduler there are few. Others may be named by what they are for.
    if (described !== undefined && text(job?.repeatJobKey) !== undefined) {
      described.attributes['bullmq.job.name'] = text(job?.name);
    }
    return described;
  },
  received(call) {
    const [job] = argumentsOf(call) as [Job | undefined];
    return carriedIn(job?.opts);
  },
  beginsTrace(call, sender, carrier) {
    const [job] = argumentsOf(call) as [Job];
    return beginsTrace(sender, {
      kind: kindOf(queueOf(call), job.name),
      carrier: carrier as Record<string, unknown>,
      attempts: (number(job.attemptsStarted) ?? (number(job.attemptsMade) ?? 0) + 1) - 1,
      added: number(job.timestamp) ?? Date.now(),
      isScheduled: text(job.repeatJobKey) !== undefined,
    });
  },
  isControlFlow: isHandedBack,
};

/** `bullmq`, into which the channels are injected. */
export const bullmq: Library = {
  name: 'bullmq',
  operations: [add, addBulk, schedule, addFlow, addFlows, process],
};
