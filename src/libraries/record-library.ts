import { traceLibrary } from './engine/trace-library.js';
import type { FirstMessage } from './engine/trace-library.js';
import type { Library, LibraryOptions } from './library.js';
import type { LibraryName } from './watched-channels.js';

/** The file of each library. */
const FILES: Record<LibraryName, () => Library> = {
  ai: () => (require('./ai.js') as typeof import('./ai.js')).ai,
  amqplib: () => (require('./amqplib.js') as typeof import('./amqplib.js')).amqplib,
  bullmq: () => (require('./bullmq.js') as typeof import('./bullmq.js')).bullmq,
  child_process: () =>
    (require('./child-process.js') as typeof import('./child-process.js')).childProcess,
  db0: () => (require('./db0.js') as typeof import('./db0.js')).db0,
  express: () => (require('./express.js') as typeof import('./express.js')).express,
  express4: () => (require('./express4.js') as typeof import('./express4.js')).express4,
  fastify: () => (require('./fastify.js') as typeof import('./fastify.js')).fastify,
  'generic-pool': () =>
    (require('./generic-pool.js') as typeof import('./generic-pool.js')).genericPool,
  graphql: () => (require('./graphql.js') as typeof import('./graphql.js')).graphql,
  'graphql:resolve': () =>
    (require('./graphql.js') as typeof import('./graphql.js')).graphqlResolve,
  graphql16: () => (require('./graphql.js') as typeof import('./graphql.js')).graphql16,
  grpc: () => (require('./grpc.js') as typeof import('./grpc.js')).grpc,
  h3: () => (require('./h3.js') as typeof import('./h3.js')).h3,
  hono: () => (require('./hono.js') as typeof import('./hono.js')).hono,
  ioredis: () => (require('./ioredis.js') as typeof import('./ioredis.js')).ioredis,
  kafka: () => (require('./kafka.js') as typeof import('./kafka.js')).kafka,
  kafkajs: () => (require('./kafkajs.js') as typeof import('./kafkajs.js')).kafkajs,
  knex: () => (require('./knex.js') as typeof import('./knex.js')).knex,
  koa: () => (require('./koa.js') as typeof import('./koa.js')).koa,
  'lru-cache': () => (require('./lru-cache.js') as typeof import('./lru-cache.js')).lruCache,
  mongodb: () => (require('./mongodb.js') as typeof import('./mongodb.js')).mongodb,
  mongoose: () => (require('./mongoose.js') as typeof import('./mongoose.js')).mongoose,
  mssql: () => (require('./mssql.js') as typeof import('./mssql.js')).mssql,
  mysql2: () => (require('./mysql2.js') as typeof import('./mysql2.js')).mysql2,
  nest: () => (require('./nest.js') as typeof import('./nest.js')).nest,
  net: () => (require('./net.js') as typeof import('./net.js')).net,
  pg: () => (require('./pg.js') as typeof import('./pg.js')).pg,
  redis: () => (require('./redis.js') as typeof import('./redis.js')).redis,
  redis3: () => (require('./redis.js') as typeof import('./redis.js')).redis3,
  'socket.io': () => (require('./socket-io.js') as typeof import('./socket-io.js')).socketIo,
  sqlite: () => (require('./sqlite.js') as typeof import('./sqlite.js')).sqlite,
  srvx: () => (require('./srvx.js') as typeof import('./srvx.js')).srvx,
  undici: () => (require('./undici.js') as typeof import('./undici.js')).undici,
  ws: () => (require('./ws.js') as typeof import('./ws.js')).ws,
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
