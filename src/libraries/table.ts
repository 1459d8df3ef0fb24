import type { Injection } from './injected/injected-file.js';
import type { Library } from './library.js';

/** The exports of a file: each has the name of its library in camel case. */
type Spans = Readonly<Record<string, Library>>;
type Injections = Readonly<Record<string, Injection>>;

/** A library that is recorded, or that calls the program back elsewhere than where it was asked to. */
interface Entry {
  /** The tracing channels that it publishes on, or on which what is put into it publishes. None: it is not recorded. */
  readonly channels?: readonly string[];
  /** Whether it is a part of Node, with plain channels. */
  readonly isOfNode?: true;
  /** Loads the file that makes spans of its messages, with the first of them. */
  readonly spans?: () => Spans;
  /** The packages into which channels are put, in versions that have none. */
  readonly packages?: readonly string[];
  /** Loads the file that says what is put into them, with the first such package. */
  readonly inject?: () => Injections;
  /** Whether a program can load it as ES modules. All others are CommonJS, whichever module imports them. */
  readonly isOfModules?: true;
  /** Whether it is changed only if `TRACEWRIGHT_LOGS` asks for it. */
  readonly isLogger?: true;
  /** Whether it must be named: it may be recorded thousands of times a request, or is what others record too. */
  readonly onRequest?: true;
  /** Whether it reports the routes of requests also if it is not recorded. */
  readonly findsRoutes?: true;
  /** How a bundle that has it is recognised. */
  readonly bundle?: {
    /** No bundler and no minifier changes it. */
    readonly text: string;
    /** Is in versions that publish what they do. */
    readonly unless?: string;
    /** The package that is to be left out of the bundle; default: of the library's name. */
    readonly external?: string;
    /** Whether packages have it within themselves, rather than depend on it. In others it serves tools. */
    readonly isClient?: true;
  };
  /** The instrumentations of OpenTelemetry that record it too. They are left out if the hook records its version. */
  readonly instrumentation?: {
    /** Whole names, or the ends of OpenTelemetry's own. */
    readonly names: readonly string[];
    /** The package whose version counts; default: of the library's name. */
    readonly target?: string;
    /** The first version that is recorded. docs/libraries.md has the same. */
    readonly from: string;
    /** The version from which on it publishes what it does. Default: it never does, or `from`. */
    readonly publishes?: string;
    /** The major version from which on it is another library. */
    readonly before?: number;
  };
  /** A package that makes spans of it by the OpenTelemetry API, if the program depends on that. */
  readonly ownSpans?: string;
}

const loggers = (): Injections => require('./injected/loggers.js') as Injections;
const jobs = (): Injections => require('./injected/jobs.js') as Injections;
const carriers = (): Injections => require('./injected/carriers.js') as Injections;
const clients = (): Injections => require('./injected/client-carriers.js') as Injections;
const promises = (): Injections => require('./injected/promise-carriers.js') as Injections;

/** Bytes of a file that may be a bundle with a library in it. */
export const LEAST_BUNDLE = 1 << 14;

/** Every library. The hook loads this at its start, and nothing else of a library before the program does. */
export const LIBRARIES = {
  ai: {
    channels: ['ai:telemetry'],
    spans: () => require('./ai.js') as Spans,
    ownSpans: '@ai-sdk/otel',
  },
  db0: { channels: ['db0.query'], spans: () => require('./db0.js') as Spans },
  express: {
    channels: ['express.router.request'],
    spans: () => require('./express.js') as Spans,
    packages: ['router', 'connect'],
    inject: () => require('./injected/express.js') as Injections,
    findsRoutes: true,
    bundle: { text: 'argument handler must be a function', unless: 'express.router.request' },
    instrumentation: {
      names: ['express', 'router'],
      target: 'router',
      from: '2.0.0',
      publishes: '2.3.0',
    },
  },
  fastify: {
    channels: ['fastify.request.handler'],
    spans: () => require('./fastify.js') as Spans,
    packages: ['fastify'],
    inject: () => require('./injected/fastify.js') as Injections,
    bundle: { text: 'FST_ERR_REP_ALREADY_SENT', unless: 'fastify.request.handler' },
    instrumentation: { names: ['@fastify/otel'], from: '3.0.0', publishes: '5.0.0' },
  },
  graphql: {
    channels: ['graphql:parse', 'graphql:validate', 'graphql:execute', 'graphql:subscribe'],
    spans: () => require('./graphql.js') as Spans,
    instrumentation: { names: ['graphql'], from: '17.0.0' },
  },
  'graphql:resolve': {
    channels: ['graphql:resolve'],
    spans: () => require('./graphql.js') as Spans,
    onRequest: true,
  },
  h3: {
    channels: ['h3.request'],
    spans: () => require('./h3.js') as Spans,
    packages: ['h3'],
    inject: () => require('./injected/h3.js') as Injections,
    isOfModules: true,
  },
  ioredis: {
    channels: ['ioredis:command', 'ioredis:batch', 'ioredis:connect'],
    spans: () => require('./ioredis.js') as Spans,
    packages: ['ioredis'],
    inject: () => require('./injected/redis.js') as Injections,
    bundle: {
      text: 'Reached the max retries per request limit',
      unless: 'ioredis:command',
      isClient: true,
    },
    instrumentation: { names: ['ioredis'], from: '4.31.0', publishes: '5.11.0' },
  },
  kafka: {
    channels: [
      'plt:kafka:producer:sends',
      'plt:kafka:consumer:receives',
      'plt:kafka:consumer:commits',
      'plt:kafka:connections:connects',
    ],
    spans: () => require('./kafka.js') as Spans,
  },
  'lru-cache': {
    channels: ['lru-cache'],
    spans: () => require('./lru-cache.js') as Spans,
    onRequest: true,
  },
  mongoose: {
    channels: [
      'mongoose:query',
      'mongoose:aggregate',
      'mongoose:model:save',
      'mongoose:model:insertMany',
      'mongoose:model:bulkWrite',
      'mongoose:cursor:next',
    ],
    spans: () => require('./mongoose.js') as Spans,
    instrumentation: { names: ['mongoose'], from: '9.7.0' },
  },
  mssql: {
    channels: [
      'mssql:query',
      'mssql:batch',
      'mssql:execute',
      'mssql:bulk',
      'mssql:prepared-statement:prepare',
      'mssql:prepared-statement:execute',
      'mssql:pool:acquire',
      'mssql:connect',
    ],
    spans: () => require('./mssql.js') as Spans,
    packages: ['mssql'],
    inject: () => require('./injected/mssql.js') as Injections,
  },
  mariadb: {
    channels: ['mariadb:query', 'mariadb:pool:connect'],
    spans: () => require('./mysql2.js') as Spans,
    packages: ['mariadb'],
    inject: () => require('./injected/mariadb.js') as Injections,
    isOfModules: true,
    bundle: { text: 'prepare command as already been closed', isClient: true },
  },
  mysql: {
    channels: ['mysql:query', 'mysql:pool:connect'],
    spans: () => require('./mysql2.js') as Spans,
    packages: ['mysql'],
    inject: () => require('./injected/mysql.js') as Injections,
    bundle: { text: 'Connection already released', isClient: true },
    instrumentation: { names: ['mysql'], from: '2.16.0' },
  },
  mysql2: {
    channels: ['mysql2:query', 'mysql2:execute', 'mysql2:pool:connect', 'mysql2:connect'],
    spans: () => require('./mysql2.js') as Spans,
    packages: ['mysql2'],
    inject: () => require('./injected/mysql2.js') as Injections,
    bundle: {
      text: 'add new command when connection is in closed state',
      unless: 'mysql2:query',
      isClient: true,
    },
    instrumentation: { names: ['mysql2'], from: '2.3.3', publishes: '3.20.0' },
  },
  postgres: {
    channels: ['postgres:query', 'postgres:pool'],
    spans: () => require('./pg.js') as Spans,
    packages: ['postgres'],
    inject: () => require('./injected/postgres.js') as Injections,
    isOfModules: true,
    bundle: { text: 'Only use sql.begin, sql.reserved or max: 1', isClient: true },
  },
  redis: {
    channels: ['node-redis:command', 'node-redis:batch', 'node-redis:connect'],
    spans: () => require('./redis.js') as Spans,
    packages: ['@redis/client'],
    inject: () => require('./injected/redis.js') as Injections,
    bundle: { text: 'Socket already opened', unless: 'node-redis:command', isClient: true },
    instrumentation: {
      names: ['redis'],
      target: '@redis/client',
      from: '1.2.0',
      publishes: '5.12.0',
    },
  },
  srvx: {
    channels: ['srvx.middleware', 'srvx.request'],
    spans: () => require('./srvx.js') as Spans,
  },

  // They publish nothing themselves. Requests of HTTP are no library's: adapters have no spans of their own.
  adapters: {
    channels: [],
    packages: ['light-my-request', 'serverless-http', '@codegenie/serverless-express'],
    inject: () => require('./injected/adapters.js') as Injections,
  },
  amqplib: {
    channels: ['orchestrion:amqplib:publish', 'orchestrion:amqplib:process'],
    spans: () => require('./amqplib.js') as Spans,
    packages: ['amqplib'],
    inject: () => require('./injected/amqplib.js') as Injections,
    bundle: { text: 'Channel ended, no reply will be forthcoming', isClient: true },
    instrumentation: { names: ['amqplib'], from: '0.10.4' },
  },
  bullmq: {
    channels: [
      'orchestrion:bullmq:add',
      'orchestrion:bullmq:addBulk',
      'orchestrion:bullmq:schedule',
      'orchestrion:bullmq:addFlow',
      'orchestrion:bullmq:addFlows',
      'orchestrion:bullmq:process',
    ],
    spans: () => require('./bullmq.js') as Spans,
    packages: ['bullmq'],
    inject: () => require('./injected/bullmq.js') as Injections,
    bundle: { text: 'Missing lock for job', isClient: true },
  },
  cron: {
    channels: ['orchestrion:cron:job'],
    spans: () => require('./jobs.js') as Spans,
    packages: ['cron'],
    inject: jobs,
    bundle: { text: 'ERROR: You specified an invalid UTC offset.' },
  },
  croner: {
    channels: ['orchestrion:croner:job'],
    spans: () => require('./jobs.js') as Spans,
    packages: ['croner'],
    inject: jobs,
    isOfModules: true,
    bundle: { text: 'schedule two functions using the same Croner instance' },
  },
  express4: {
    channels: ['orchestrion:express:layer'],
    spans: () => require('./express4.js') as Spans,
    packages: ['express'],
    inject: () => require('./injected/express.js') as Injections,
    findsRoutes: true,
    bundle: { text: '.prototype.handle_request', external: 'express' },
    instrumentation: { names: ['express', 'router'], target: 'express', from: '4.16.0', before: 5 },
  },
  'generic-pool': {
    channels: ['orchestrion:generic-pool:acquire'],
    spans: () => require('./generic-pool.js') as Spans,
    packages: ['generic-pool'],
    inject: () => require('./injected/generic-pool.js') as Injections,
    bundle: { text: 'Resource not currently part of this pool' },
  },
  graphql16: {
    channels: ['orchestrion:graphql:execute', 'orchestrion:graphql:subscribe'],
    spans: () => require('./graphql.js') as Spans,
    packages: ['graphql'],
    inject: () => require('./injected/graphql16.js') as Injections,
    bundle: {
      text: 'dropped long-deprecated support for positional arguments',
      external: 'graphql',
    },
    instrumentation: { names: ['graphql'], target: 'graphql', from: '15.11.0', before: 17 },
  },
  grpc: {
    channels: ['orchestrion:@grpc/grpc-js:call'],
    spans: () => require('./grpc.js') as Spans,
    packages: ['@grpc/grpc-js'],
    inject: () => require('./injected/grpc.js') as Injections,
    instrumentation: { names: ['grpc'], target: '@grpc/grpc-js', from: '1.3.8' },
  },
  hono: {
    channels: ['orchestrion:hono:handler'],
    spans: () => require('./hono.js') as Spans,
    packages: ['hono'],
    inject: () => require('./injected/hono.js') as Injections,
    isOfModules: true,
    bundle: { text: 'Context is not finalized' },
  },
  kafkajs: {
    channels: ['orchestrion:kafkajs:publish', 'orchestrion:kafkajs:process'],
    spans: () => require('./kafkajs.js') as Spans,
    packages: ['kafkajs'],
    inject: () => require('./injected/kafkajs.js') as Injections,
    bundle: { text: 'KafkaJSNonRetriableError', isClient: true },
    instrumentation: { names: ['kafkajs'], from: '1.16.0' },
  },
  knex: {
    channels: ['orchestrion:knex:acquire'],
    spans: () => require('./knex.js') as Spans,
    packages: ['knex'],
    inject: () => require('./injected/knex.js') as Injections,
    bundle: { text: 'Knex: Timeout acquiring a connection', isClient: true },
  },
  koa: {
    channels: ['orchestrion:koa-compose:middleware'],
    spans: () => require('./koa.js') as Spans,
    packages: ['koa-compose', 'koa-mount', 'koa-route'],
    inject: () => require('./injected/koa.js') as Injections,
    bundle: { text: 'Middleware must be composed of functions' },
    instrumentation: { names: ['koa'], from: '2.13.0' },
  },
  mongodb: {
    channels: ['orchestrion:mongodb:operation'],
    spans: () => require('./mongodb.js') as Spans,
    packages: ['mongodb'],
    inject: () => require('./injected/mongodb.js') as Injections,
    bundle: { text: 'MongoTopologyClosedError', isClient: true },
    instrumentation: { names: ['mongodb'], from: '5.9.2' },
  },
  nest: {
    channels: ['orchestrion:@nestjs/core:handler'],
    spans: () => require('./nest.js') as Spans,
    packages: ['@nestjs/core'],
    inject: () => require('./injected/nest.js') as Injections,
    isOfModules: true,
    bundle: { text: 'RouterExecutionContext', external: '@nestjs/core' },
    instrumentation: { names: ['nestjs-core'], target: '@nestjs/core', from: '10.0.0' },
  },
  'node-cron': {
    channels: ['orchestrion:node-cron:job'],
    spans: () => require('./jobs.js') as Spans,
    packages: ['node-cron'],
    inject: jobs,
    isOfModules: true,
    bundle: { text: 'is a invalid expression for' },
  },
  'node-schedule': {
    channels: ['orchestrion:node-schedule:job'],
    spans: () => require('./jobs.js') as Spans,
    packages: ['node-schedule'],
    inject: jobs,
    bundle: { text: '<Anonymous Job ' },
  },
  pg: {
    channels: ['orchestrion:pg:query', 'orchestrion:pg:connect', 'orchestrion:pg-pool:connect'],
    spans: () => require('./pg.js') as Spans,
    packages: ['pg', 'pg-pool', 'pg-cursor'],
    inject: () => require('./injected/pg.js') as Injections,
    bundle: { text: 'has encountered a connection error and is not queryable', isClient: true },
    instrumentation: { names: ['pg'], from: '8.4.0' },
  },
  redis3: {
    channels: ['orchestrion:redis:command'],
    spans: () => require('./redis.js') as Spans,
    packages: ['redis'],
    inject: () => require('./injected/redis.js') as Injections,
    bundle: { text: 'Redis connection in broken state', external: 'redis', isClient: true },
    instrumentation: { names: ['redis'], target: 'redis', from: '3.1.2', before: 4 },
  },
  routers: {
    channels: [],
    packages: ['@adonisjs/http-server', '@hapi/hapi', '@loopback/rest', '@tinyhttp/app', 'polka'],
    inject: () => require('./injected/routers.js') as Injections,
    isOfModules: true,
    findsRoutes: true,
  },
  'socket.io': {
    channels: ['orchestrion:socket.io:connect', 'orchestrion:socket.io:event'],
    spans: () => require('./socket-io.js') as Spans,
    packages: ['socket.io', 'engine.io'],
    inject: () => require('./injected/socket-io.js') as Injections,
    bundle: { text: 'ignore packet received after disconnection' },
    instrumentation: { names: ['socket.io'], from: '2.0.4' },
  },
  undici: {
    channels: ['orchestrion:undici:pool'],
    spans: () => require('./undici.js') as Spans,
    packages: ['undici'],
    inject: () => require('./injected/undici.js') as Injections,
  },
  ws: {
    channels: ['orchestrion:ws:accept', 'orchestrion:ws:message'],
    spans: () => require('./ws.js') as Spans,
    packages: ['ws'],
    inject: () => require('./injected/ws.js') as Injections,
    bundle: { text: 'WebSocket was closed before the connection was established' },
  },

  // Parts of Node.
  child_process: {
    channels: ['child_process'],
    isOfNode: true,
    spans: () => require('./child-process.js') as Spans,
  },
  net: {
    channels: ['net.client.socket'],
    isOfNode: true,
    spans: () => require('./net.js') as Spans,
    onRequest: true,
  },
  sqlite: {
    channels: ['sqlite.db.query'],
    isOfNode: true,
    spans: () => require('./sqlite.js') as Spans,
  },

  // They are not recorded: what they call of the program goes on where that was asked for.
  'amqp-connection-manager': {
    packages: ['amqp-connection-manager'],
    inject: clients,
    isOfModules: true,
  },
  asap: { packages: ['asap'], inject: promises },
  async: { packages: ['async'], inject: carriers },
  'async-lock': { packages: ['async-lock'], inject: carriers },
  bcrypt: { packages: ['bcrypt'], inject: promises },
  'bee-queue': { packages: ['bee-queue'], inject: carriers },
  'better-queue': { packages: ['better-queue'], inject: carriers },
  bluebird: { packages: ['bluebird'], inject: promises },
  cockatiel: { packages: ['cockatiel'], inject: carriers },
  effect: { packages: ['effect'], inject: promises, isOfModules: true },
  'es6-promise': { packages: ['es6-promise'], inject: promises },
  imap: { packages: ['imap', 'node-imap'], inject: clients },
  inflight: { packages: ['inflight'], inject: carriers },
  ldapjs: { packages: ['ldapjs'], inject: clients },
  leveldown: { packages: ['leveldown', 'deferred-leveldown', 'classic-level'], inject: promises },
  lie: { packages: ['lie'], inject: promises },
  lmdb: { packages: ['lmdb'], inject: promises, isOfModules: true },
  lodash: { packages: ['lodash', 'lodash.debounce', 'lodash.throttle'], inject: carriers },
  loopback: { packages: ['loopback-connector', 'loopback-datasource-juggler'], inject: clients },
  memcached: { packages: ['memcached'], inject: clients },
  memoizee: { packages: ['memoizee'], inject: carriers },
  memjs: { packages: ['memjs'], inject: clients },
  moleculer: { packages: ['moleculer'], inject: carriers },
  mqtt: { packages: ['mqtt'], inject: clients },
  mutexify: { packages: ['mutexify'], inject: carriers },
  nats: { packages: ['nats', '@nats-io/nats-core'], inject: clients },
  'nest-microservices': {
    packages: ['@nestjs/microservices'],
    inject: clients,
    isOfModules: true,
  },
  'neo-async': { packages: ['neo-async'], inject: carriers },
  'net-snmp': { packages: ['net-snmp'], inject: clients },
  nodemailer: { packages: ['nodemailer'], inject: clients, isOfModules: true },
  promise: { packages: ['promise'], inject: promises },
  'promise-limit': { packages: ['promise-limit'], inject: carriers },
  'promise-queue': { packages: ['promise-queue'], inject: carriers },
  semaphore: { packages: ['semaphore'], inject: carriers },
  vasync: { packages: ['vasync'], inject: carriers },
  when: { packages: ['when'], inject: promises },
  'worker-farm': { packages: ['worker-farm'], inject: clients },
  workerpool: { packages: ['workerpool'], inject: promises },
  bottleneck: { packages: ['bottleneck'], inject: carriers },
  bull: { packages: ['bull'], inject: carriers },
  dataloader: { packages: ['dataloader'], inject: carriers },
  fastq: { packages: ['fastq'], inject: carriers },
  'lru-memoizer': { packages: ['lru-memoizer'], inject: carriers },
  'p-queue': { packages: ['p-queue'], inject: carriers, isOfModules: true },
  prisma: { packages: ['@prisma/client'], inject: carriers },
  q: { packages: ['q'], inject: promises },
  queue: { packages: ['queue'], inject: carriers, isOfModules: true },
  rhea: { packages: ['rhea'], inject: clients },
  rsvp: { packages: ['rsvp'], inject: promises },
  rwlock: { packages: ['rwlock'], inject: carriers },
  sharp: { packages: ['sharp'], inject: promises, isOfModules: true },
  'socket.io-client': { packages: ['socket.io-client'], inject: clients, isOfModules: true },
  sqlite3: { packages: ['sqlite3'], inject: promises },
  ssh2: { packages: ['ssh2'], inject: clients },
  threads: { packages: ['threads'], inject: clients },
  'winston-transport': { packages: ['winston', 'winston-transport'], inject: carriers },

  // They are not recorded: their lines get the ids of the span that is active.
  bunyan: {
    packages: ['bunyan'],
    inject: loggers,
    isLogger: true,
    bundle: { text: 'bunyan usage error' },
  },
  pino: { packages: ['pino'], inject: loggers, isLogger: true, bundle: { text: 'pino.chindings' } },
  winston: {
    packages: ['winston'],
    inject: loggers,
    isLogger: true,
    bundle: { text: 'Attempt to write logs with no transports' },
  },
} as const satisfies Readonly<Record<string, Entry>>;

type Named<Shape> = {
  [Name in keyof typeof LIBRARIES]: (typeof LIBRARIES)[Name] extends Shape ? Name : never;
}[keyof typeof LIBRARIES];

/** The name of a library as in `TRACEWRIGHT_LIBRARIES`. */
export type LibraryName = Named<{ channels: readonly string[] }>;
/** The name of a library as in `TRACEWRIGHT_INJECT`. */
export type InjectedName = Named<{ inject: () => Injections }>;

const ALL: Readonly<Record<string, Entry>> = LIBRARIES;

/** The entry of a library. */
export function entryOf(name: LibraryName | InjectedName): Entry {
  return ALL[name]!;
}

function namesWith(test: (entry: Entry) => boolean): string[] {
  return Object.keys(ALL).filter((name) => test(ALL[name]!));
}

/** Those that can be recorded. */
export const LIBRARY_NAMES = namesWith(({ channels }) => channels !== undefined) as LibraryName[];
/** Those into which channels are put. */
export const INJECTED_NAMES = namesWith(({ inject }) => inject !== undefined) as InjectedName[];
/** Those that are recorded unless the program's owner says otherwise. */
export const DEFAULT_NAMES = LIBRARY_NAMES.filter((name) => entryOf(name).onRequest !== true);

/** Whether no version of a library has channels of its own. */
export function isSilent(name: LibraryName): boolean {
  const { channels, inject } = entryOf(name);
  return inject !== undefined && channels!.every((channel) => channel.startsWith('orchestrion:'));
}

/** The channels of a library's first message. */
export function firstChannels(name: LibraryName): readonly string[] {
  const { channels, isOfNode } = entryOf(name);
  return isOfNode === true ? channels! : channels!.map((channel) => `tracing:${channel}:start`);
}

/** The export of a file for one of its libraries. */
export function exportOf<T>(name: string, file: Readonly<Record<string, T>>): T {
  return file[name.replace(/[^a-z\d](\w)/g, (_, letter: string) => letter.toUpperCase())]!;
}
