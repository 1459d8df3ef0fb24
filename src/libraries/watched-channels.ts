/** The tracing channels of each library, with which its file is loaded. All that is known of it before. */
const PUBLISHED = {
  ai: ['ai:telemetry'],
  db0: ['db0.query'],
  express: ['express.router.request'],
  fastify: ['fastify.request.handler'],
  graphql: ['graphql:parse', 'graphql:validate', 'graphql:execute', 'graphql:subscribe'],
  'graphql:resolve': ['graphql:resolve'],
  h3: ['h3.request'],
  ioredis: ['ioredis:command', 'ioredis:batch', 'ioredis:connect'],
  kafka: [
    'plt:kafka:producer:sends',
    'plt:kafka:consumer:receives',
    'plt:kafka:consumer:commits',
    'plt:kafka:connections:connects',
  ],
  'lru-cache': ['lru-cache'],
  mongoose: [
    'mongoose:query',
    'mongoose:aggregate',
    'mongoose:model:save',
    'mongoose:model:insertMany',
    'mongoose:model:bulkWrite',
    'mongoose:cursor:next',
  ],
  mssql: [
    'mssql:query',
    'mssql:batch',
    'mssql:execute',
    'mssql:bulk',
    'mssql:prepared-statement:prepare',
    'mssql:prepared-statement:execute',
    'mssql:pool:acquire',
    'mssql:connect',
  ],
  mysql2: ['mysql2:query', 'mysql2:execute', 'mysql2:pool:connect', 'mysql2:connect'],
  redis: ['node-redis:command', 'node-redis:batch', 'node-redis:connect'],
  srvx: ['srvx.middleware', 'srvx.request'],
} as const satisfies Record<string, readonly string[]>;

/** Plain channels of Node itself. */
const OF_NODE = {
  child_process: ['child_process'],
  net: ['net.client.socket'],
  sqlite: ['sqlite.db.query'],
} as const satisfies Record<string, readonly string[]>;

/** Those that are put into libraries without channels of their own. */
const INJECTED = {
  // They publish requests of HTTP, which are no library's.
  adapters: [],
  amqplib: ['orchestrion:amqplib:publish', 'orchestrion:amqplib:process'],
  bullmq: [
    'orchestrion:bullmq:add',
    'orchestrion:bullmq:addBulk',
    'orchestrion:bullmq:schedule',
    'orchestrion:bullmq:addFlow',
    'orchestrion:bullmq:addFlows',
    'orchestrion:bullmq:process',
  ],
  express4: ['orchestrion:express:layer'],
  'generic-pool': ['orchestrion:generic-pool:acquire'],
  graphql16: ['orchestrion:graphql:execute', 'orchestrion:graphql:subscribe'],
  grpc: ['orchestrion:@grpc/grpc-js:call'],
  hono: ['orchestrion:hono:handler'],
  kafkajs: ['orchestrion:kafkajs:publish', 'orchestrion:kafkajs:process'],
  knex: ['orchestrion:knex:acquire'],
  koa: ['orchestrion:koa-compose:middleware'],
  mongodb: ['orchestrion:mongodb:operation'],
  nest: ['orchestrion:@nestjs/core:handler'],
  pg: ['orchestrion:pg:query', 'orchestrion:pg:connect', 'orchestrion:pg-pool:connect'],
  redis3: ['orchestrion:redis:command'],
  'socket.io': ['orchestrion:socket.io:connect', 'orchestrion:socket.io:event'],
  undici: ['orchestrion:undici:pool'],
  ws: ['orchestrion:ws:accept', 'orchestrion:ws:message'],
} as const satisfies Record<string, readonly string[]>;

/** Packages of libraries whose earlier versions publish nothing: they get the channels of the later ones. */
const EARLIER = {
  express: ['router', 'connect'],
  fastify: ['fastify'],
  h3: ['h3'],
  ioredis: ['ioredis'],
  mssql: ['mssql'],
  mysql2: ['mysql2'],
  redis: ['@redis/client'],
} as const satisfies Record<string, readonly string[]>;

/** Libraries that are not recorded: what they call of the program goes on where that was asked for. */
const CARRIERS = [
  'async',
  'async-lock',
  'bluebird',
  'bottleneck',
  'bull',
  'dataloader',
  'fastq',
  'lru-memoizer',
  'p-queue',
  'q',
] as const;

type CarrierName = (typeof CARRIERS)[number];
type ChangedName = keyof typeof INJECTED | keyof typeof EARLIER;
/** The name of a library as in `TRACEWRIGHT_INJECT`. */
export type InjectedName = ChangedName | CarrierName;
/** The name of a library, as in `TRACEWRIGHT_LIBRARIES`. */
export type LibraryName = keyof typeof PUBLISHED | NodePartName | ChangedName;
/** A part of Node that is recorded as libraries are. */
type NodePartName = keyof typeof OF_NODE;

const TRACING: Readonly<Record<Exclude<LibraryName, NodePartName>, readonly string[]>> = {
  ...PUBLISHED,
  ...INJECTED,
};

/** Every library that there is a file for. */
export const LIBRARY_NAMES = [
  ...Object.keys(TRACING),
  ...Object.keys(OF_NODE),
] as readonly LibraryName[];
/** Those that are parts of Node. */
export const NODE_PART_NAMES = Object.keys(OF_NODE) as readonly NodePartName[];
/** Those without channels of their own in any version. */
export const WITHOUT_CHANNELS = Object.keys(INJECTED) as readonly ChangedName[];
/** Those without channels of their own in some version. */
export const INJECTED_NAMES = [
  ...WITHOUT_CHANNELS,
  ...Object.keys(EARLIER),
  ...CARRIERS,
] as readonly InjectedName[];

/** Those that report the routes of requests also if they are not recorded. */
export const WITH_ROUTES = ['express', 'express4'] as const;

/** Of these a program can load ES modules. All others are CommonJS, whichever module imports them. */
export const WITH_ES_MODULES: readonly InjectedName[] = ['h3', 'hono', 'nest', 'p-queue'];

/** The channel of requests that an application gets without a socket. */
export const SOCKETLESS = 'tracewright.request.socketless';

/** The channel of the headers of a request of node:http, until something observes them. */
export const CALL_HEADERS = 'tracewright:http.client.headers';

/** Packages that belong to a library: they say more of its requests, or call the program back. */
const FURTHER: Partial<Record<InjectedName, readonly string[]>> = {
  adapters: ['light-my-request', 'serverless-http', '@codegenie/serverless-express'],
  koa: ['koa-mount', 'koa-route'],
  pg: ['pg-cursor'],
  'socket.io': ['engine.io'],
};

function isCarrier(name: InjectedName): name is CarrierName {
  return (CARRIERS as readonly string[]).includes(name);
}

/** Those that serve what is recorded: themselves, or anything. */
export function usefulInjections(
  injected: readonly InjectedName[],
  recorded: readonly LibraryName[],
): readonly InjectedName[] {
  return injected.filter((name) =>
    isCarrier(name) ? recorded.length > 0 : recorded.includes(name),
  );
}

/** The packages into which channels of a library are put. */
export function injectedPackages(name: InjectedName): readonly string[] {
  if (isCarrier(name)) return [name];
  if (name in EARLIER) return EARLIER[name as keyof typeof EARLIER];
  const channels: readonly string[] = INJECTED[name as keyof typeof INJECTED];
  const own = channels.map((channel) => channel.split(':')[1]!);
  return [...new Set([...own, ...(FURTHER[name] ?? [])])];
}

/** What may be recorded thousands of times a request, or what others record too. */
const ON_REQUEST: readonly LibraryName[] = ['graphql:resolve', 'lru-cache', 'net'];

/** Those that are recorded unless the program's owner says otherwise. */
export const DEFAULT_NAMES = LIBRARY_NAMES.filter((name) => !ON_REQUEST.includes(name));

/** The channels of a library's first message. */
export function firstChannels(name: LibraryName): string[] {
  return name in OF_NODE
    ? [...OF_NODE[name as NodePartName]]
    : TRACING[name as keyof typeof TRACING].map((channel) => `tracing:${channel}:start`);
}
