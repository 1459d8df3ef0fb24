import { version } from '../core/version.js';
import { SCHEMA_URL } from '../spans/conventions.js';
import { Scope } from '../spans/scope.js';
import { AnnouncedSpans } from './engine/announced-spans.js';
import type { CallMessage } from './engine/calls.js';
import { LibraryGuard } from './engine/library-guard.js';
import { channelOf, OperationChannels } from './engine/operation-channels.js';
import { OperationSpans } from './engine/operation-spans.js';
import type { Library, LibraryOptions } from './library.js';
import type { LibraryName } from './watched-channels.js';

/** The message with which a library was loaded, and its channel. */
interface FirstMessage {
  channel: string;
  message: unknown;
}

/** Records what a library does from now on, and the operation whose message is the first. */
function traceLibrary(
  { name, operations, announcements = [] }: Library,
  options: LibraryOptions,
  first: FirstMessage,
): void {
  const guard = new LibraryGuard(name);
  const scope = new Scope(`tracewright/${name}`, version, SCHEMA_URL);
  for (const operation of operations) {
    const made = new OperationSpans(operation, name, scope, options, guard);
    const channels = new OperationChannels(operation, made, guard);
    channels.subscribe();
    if (first.channel === channelOf(operation, 'start')) {
      channels.beginByHand(first.message as CallMessage);
    }
  }
  for (const announcement of announcements) {
    const observed = new AnnouncedSpans(announcement, scope, options, guard);
    observed.subscribe();
    if (first.channel === announcement.channel) observed.record(first.message as object);
  }
}

/** What the file of a library exports: under its name in camel case, or those of several. */
type Exports = Readonly<Record<string, Library>>;

/** The file of each library. */
const FILES: Record<LibraryName, () => Exports> = {
  adapters: () => ({ adapters: { name: 'adapters', operations: [] } }),
  ai: () => require('./ai.js') as Exports,
  amqplib: () => require('./amqplib.js') as Exports,
  bullmq: () => require('./bullmq.js') as Exports,
  child_process: () => require('./child-process.js') as Exports,
  db0: () => require('./db0.js') as Exports,
  express: () => require('./express.js') as Exports,
  express4: () => require('./express4.js') as Exports,
  fastify: () => require('./fastify.js') as Exports,
  'generic-pool': () => require('./generic-pool.js') as Exports,
  graphql: () => require('./graphql.js') as Exports,
  'graphql:resolve': () => require('./graphql.js') as Exports,
  graphql16: () => require('./graphql.js') as Exports,
  grpc: () => require('./grpc.js') as Exports,
  h3: () => require('./h3.js') as Exports,
  hono: () => require('./hono.js') as Exports,
  ioredis: () => require('./ioredis.js') as Exports,
  kafka: () => require('./kafka.js') as Exports,
  kafkajs: () => require('./kafkajs.js') as Exports,
  knex: () => require('./knex.js') as Exports,
  koa: () => require('./koa.js') as Exports,
  'lru-cache': () => require('./lru-cache.js') as Exports,
  mongodb: () => require('./mongodb.js') as Exports,
  mongoose: () => require('./mongoose.js') as Exports,
  mssql: () => require('./mssql.js') as Exports,
  mysql2: () => require('./mysql2.js') as Exports,
  nest: () => require('./nest.js') as Exports,
  net: () => require('./net.js') as Exports,
  pg: () => require('./pg.js') as Exports,
  redis: () => require('./redis.js') as Exports,
  redis3: () => require('./redis.js') as Exports,
  'socket.io': () => require('./socket-io.js') as Exports,
  sqlite: () => require('./sqlite.js') as Exports,
  srvx: () => require('./srvx.js') as Exports,
  undici: () => require('./undici.js') as Exports,
  ws: () => require('./ws.js') as Exports,
};

/** What a library's file says. */
export function libraryOf(name: LibraryName): Library {
  const exported = name.replace(/[^a-z\d](\w)/g, (_, letter: string) => letter.toUpperCase());
  return FILES[name]()[exported]!;
}

/** Records from now on what a library of this thread does, beginning with the first message. */
export function recordLibrary(
  name: LibraryName,
  options: LibraryOptions,
  first: FirstMessage,
): void {
  traceLibrary(libraryOf(name), options, first);
}
