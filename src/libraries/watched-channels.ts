/** The tracing channels of each library, with which its file is loaded. All that is known of it before. */
const PUBLISHED = {
  express: ['express.router.request'],
  fastify: ['fastify.request.handler'],
  graphql: ['graphql:parse', 'graphql:validate', 'graphql:execute', 'graphql:subscribe'],
  'graphql:resolve': ['graphql:resolve'],
  ioredis: ['ioredis:command', 'ioredis:batch', 'ioredis:connect'],
  mysql2: ['mysql2:query', 'mysql2:execute', 'mysql2:pool:connect', 'mysql2:connect'],
  redis: ['node-redis:command', 'node-redis:batch', 'node-redis:connect'],
} as const satisfies Record<string, readonly string[]>;

/** Those that are put into libraries without channels of their own. */
const INJECTED = {
  amqplib: ['orchestrion:amqplib:publish', 'orchestrion:amqplib:process'],
  bullmq: ['orchestrion:bullmq:add', 'orchestrion:bullmq:addBulk', 'orchestrion:bullmq:process'],
  express4: ['orchestrion:express:layer'],
  hono: ['orchestrion:hono:handler'],
  kafkajs: ['orchestrion:kafkajs:publish', 'orchestrion:kafkajs:process'],
  koa: ['orchestrion:koa-compose:middleware'],
  mongodb: ['orchestrion:mongodb:operation'],
  pg: ['orchestrion:pg:query', 'orchestrion:pg:connect', 'orchestrion:pg-pool:connect'],
} as const satisfies Record<string, readonly string[]>;

/** The name of a library as in `TRACEWRIGHT_INJECT`. */
export type InjectedName = keyof typeof INJECTED;
/** The name of a library, as in `TRACEWRIGHT_LIBRARIES`. */
export type LibraryName = keyof typeof PUBLISHED | InjectedName;

const CHANNELS: Readonly<Record<LibraryName, readonly string[]>> = { ...PUBLISHED, ...INJECTED };

/** Every library that there is a file for. */
export const LIBRARY_NAMES = Object.keys(CHANNELS) as readonly LibraryName[];
/** Those without channels of their own. */
export const INJECTED_NAMES = Object.keys(INJECTED) as readonly InjectedName[];

/** Those that are recorded unless the program's owner says otherwise. */
export const DEFAULT_NAMES = LIBRARY_NAMES.filter((name) => name !== 'graphql:resolve');

/** The channels of a library's first message. */
export function firstChannels(name: LibraryName): string[] {
  return CHANNELS[name].map((channel) => `tracing:${channel}:start`);
}
