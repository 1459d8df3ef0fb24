import type { InjectedName } from './watched-channels.js';

/** Where a channel is put into a library: as `@apm-js-collab/tracing-hooks` wants it. */
export interface Injection {
  channelName: string;
  module: { name: string; versionRange: string; filePath: string };
  functionQuery: {
    className: string;
    methodName: string;
    /** `Auto`: with a callback as its last argument, or a promise as its result. */
    kind: 'Sync' | 'Auto';
  };
}

function method(
  [name, versionRange, filePath]: readonly [string, string, string],
  channelName: string,
  className: string,
  methodName: string,
  kind: 'Sync' | 'Auto',
): Injection {
  return {
    channelName,
    module: { name, versionRange, filePath },
    functionQuery: { className, methodName, kind },
  };
}

const PG_CLIENT = ['pg', '>=8.4.0 <9', 'lib/client.js'] as const;
const PG_POOL = ['pg-pool', '>=3.2.1 <4', 'index.js'] as const;
const BULLMQ_QUEUE = ['bullmq', '>=5.41.0 <7', 'dist/cjs/classes/queue.js'] as const;
const BULLMQ_WORKER = ['bullmq', '>=5.41.0 <7', 'dist/cjs/classes/worker.js'] as const;
const AMQP_CHANNEL = ['amqplib', '>=0.10.4 <3', 'lib/channel.js'] as const;

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
  pg: [
    method(PG_CLIENT, 'query', 'Client', 'query', 'Auto'),
    method(PG_CLIENT, 'connect', 'Client', 'connect', 'Auto'),
    method(PG_POOL, 'connect', 'Pool', 'connect', 'Auto'),
  ],
};
