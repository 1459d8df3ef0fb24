import { tracedCall } from './injected-calls.js';
import type { CallMessage, Transform } from './injected-calls.js';
import type { InjectedName } from './watched-channels.js';

/** A package, its versions, and a file in it. */
type Place = readonly [name: string, versionRange: string, filePath: string | RegExp];

/** `Auto`: with a callback as its last argument, or a promise as its result. `Async`: a promise. */
type Kind = 'Sync' | 'Async' | 'Auto';

/** Where a channel is put into a library: as `@apm-js-collab/tracing-hooks` wants it. */
export interface Injection {
  channelName: string;
  module: { name: string; versionRange: string; filePath: string | RegExp };
  functionQuery:
    | { className: string; methodName: string; kind: Kind }
    | { functionName: string; kind: Kind }
    | { expressionName: string; kind: Kind }
    | { index: null };
  /** Selects calls; what then becomes of them. */
  astQuery?: string;
  transform?: Transform;
}

function injection(
  [name, versionRange, filePath]: Place,
  channelName: string,
  functionQuery: Injection['functionQuery'],
): Injection {
  return { channelName, module: { name, versionRange, filePath }, functionQuery };
}

function method(
  place: Place,
  channelName: string,
  className: string,
  methodName: string,
  kind: Kind,
): Injection {
  return injection(place, channelName, { className, methodName, kind });
}

/** Calls of functions of the program in the library's text, and what their messages have. */
function call(place: Place, channelName: string, query: string, message: CallMessage): Injection {
  return {
    ...injection(place, channelName, { index: null }),
    astQuery: `CallExpression${query}`,
    transform: tracedCall(message),
  };
}

const PG_CLIENT = ['pg', '>=8.4.0 <9', 'lib/client.js'] as const;
const PG_POOL = ['pg-pool', '>=3.2.1 <4', 'index.js'] as const;
const BULLMQ_QUEUE = ['bullmq', '>=5.41.0 <7', 'dist/cjs/classes/queue.js'] as const;
const BULLMQ_WORKER = ['bullmq', '>=5.41.0 <7', 'dist/cjs/classes/worker.js'] as const;
const AMQP_CHANNEL = ['amqplib', '>=0.10.4 <3', 'lib/channel.js'] as const;
const EXPRESS_LAYER = ['express', '>=4.16.0 <5', 'lib/router/layer.js'] as const;
const EXPRESS_ROUTER = ['express', '>=4.16.0 <5', 'lib/router/index.js'] as const;
const HONO_COMPOSE = ['hono', '>=4.0.0 <5', /^dist\/(?:cjs\/)?compose\.js$/] as const;
const HONO_BASE = ['hono', '>=4.0.0 <5', /^dist\/(?:cjs\/)?hono-base\.js$/] as const;
const KAFKA_PRODUCER = ['kafkajs', '>=2.0.0 <3', 'src/producer/messageProducer.js'] as const;
const KAFKA_RUNNER = ['kafkajs', '>=2.0.0 <3', 'src/consumer/runner.js'] as const;
const KOA_COMPOSE = ['koa-compose', '>=4.1.0 <5', 'index.js'] as const;
const MONGODB = ['mongodb', '>=6.7.0 <8', 'lib/operations/execute_operation.js'] as const;

/** The channels that are put into each library without its own. */
export const INJECTIONS: Readonly<Record<InjectedName, readonly Injection[]>> = {
  amqplib: [
    method(AMQP_CHANNEL, 'publish', 'Channel', 'sendMessage', 'Sync'),
    method(AMQP_CHANNEL, 'process', 'BaseChannel', 'dispatchMessage', 'Sync'),
  ],
  bullmq: [
    method(BULLMQ_QUEUE, 'add', 'Queue', 'addJob', 'Auto'),
    method(BULLMQ_QUEUE, 'addBulk', 'Queue', 'addBulk', 'Auto'),
    method(BULLMQ_WORKER, 'process', 'Worker', 'callProcessJob', 'Auto'),
  ],
  express4: [
    call(EXPRESS_LAYER, 'layer', '[callee.name="fn"][arguments.length=3]', {
      handler: 'fn',
      layer: 'this',
      req: 'req',
    }),
    call(EXPRESS_LAYER, 'layer', '[callee.name="fn"][arguments.length=4]', {
      failed: 'error',
      handler: 'fn',
      layer: 'this',
      req: 'req',
    }),
    call(EXPRESS_ROUTER, 'layer', '[callee.name="fn"][arguments.length=5]', {
      handler: 'fn',
      param: 'key.name',
      req: 'req',
    }),
  ],
  hono: [
    call(HONO_COMPOSE, 'handler', '[callee.name="handler"]', {
      context: 'context',
      handlers: 'middleware',
      index: 'i',
    }),
    // The only function of a request is called without `compose`.
    call(HONO_BASE, 'handler', '[callee.object.object.object.object.name="matchResult"]', {
      context: 'c',
      matched: 'matchResult',
    }),
  ],
  kafkajs: [
    injection(KAFKA_PRODUCER, 'publish', { expressionName: 'sendBatch', kind: 'Async' }),
    call(KAFKA_RUNNER, 'process', '[callee.property.name="eachMessage"]', {
      message: 'message',
      partition: 'partition',
      runner: 'this',
      topic: 'topic',
    }),
    call(KAFKA_RUNNER, 'process', '[callee.property.name="eachBatch"]', {
      batch: 'batch',
      partition: 'partition',
      runner: 'this',
      topic: 'topic',
    }),
  ],
  koa: [
    call(KOA_COMPOSE, 'middleware', '[callee.name="fn"]', { context: 'context', handler: 'fn' }),
  ],
  mongodb: [injection(MONGODB, 'operation', { functionName: 'executeOperation', kind: 'Async' })],
  pg: [
    method(PG_CLIENT, 'query', 'Client', 'query', 'Auto'),
    method(PG_CLIENT, 'connect', 'Client', 'connect', 'Auto'),
    method(PG_POOL, 'connect', 'Pool', 'connect', 'Auto'),
  ],
};

/** Libraries of which a program can load ES modules. All others are CommonJS, whichever module imports them. */
export const WITH_ES_MODULES: ReadonlySet<InjectedName> = new Set(['hono']);
