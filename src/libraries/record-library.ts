import { traceLibrary } from './engine/trace-library.js';
import type { FirstMessage } from './engine/trace-library.js';
import type { Library, LibraryOptions } from './library.js';
import type { LibraryName } from './watched-channels.js';

/** The file of each library. */
const FILES: Record<LibraryName, () => Library> = {
  amqplib: () => (require('./amqplib.js') as typeof import('./amqplib.js')).amqplib,
  bullmq: () => (require('./bullmq.js') as typeof import('./bullmq.js')).bullmq,
  express: () => (require('./express.js') as typeof import('./express.js')).express,
  express4: () => (require('./express4.js') as typeof import('./express4.js')).express4,
  fastify: () => (require('./fastify.js') as typeof import('./fastify.js')).fastify,
  graphql: () => (require('./graphql.js') as typeof import('./graphql.js')).graphql,
  'graphql:resolve': () =>
    (require('./graphql.js') as typeof import('./graphql.js')).graphqlResolve,
  hono: () => (require('./hono.js') as typeof import('./hono.js')).hono,
  ioredis: () => (require('./ioredis.js') as typeof import('./ioredis.js')).ioredis,
  kafkajs: () => (require('./kafkajs.js') as typeof import('./kafkajs.js')).kafkajs,
  koa: () => (require('./koa.js') as typeof import('./koa.js')).koa,
  mongodb: () => (require('./mongodb.js') as typeof import('./mongodb.js')).mongodb,
  mysql2: () => (require('./mysql2.js') as typeof import('./mysql2.js')).mysql2,
  pg: () => (require('./pg.js') as typeof import('./pg.js')).pg,
  redis: () => (require('./redis.js') as typeof import('./redis.js')).redis,
};

/** What a library's file says. */
export function libraryOf(name: LibraryName): Library {
  return FILES[name]();
}

/** Records from now on what a library of this thread does, beginning with the first message. */
export function recordLibrary(
  name: LibraryName,
  options: LibraryOptions,
  first: FirstMessage,
): void {
  traceLibrary(libraryOf(name), options, first);
}
