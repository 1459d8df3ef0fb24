/** The tracing channels of each library, with which its file is loaded. All that is known of it before. */
const CHANNELS = {
  express: ['express.router.request'],
  fastify: ['fastify.request.handler'],
  ioredis: ['ioredis:command', 'ioredis:batch', 'ioredis:connect'],
  mysql2: ['mysql2:query', 'mysql2:execute', 'mysql2:pool:connect', 'mysql2:connect'],
  redis: ['node-redis:command', 'node-redis:batch', 'node-redis:connect'],
} as const satisfies Record<string, readonly string[]>;

/** The name of a library, as in `TRACEWRIGHT_LIBRARIES`. */
export type LibraryName = keyof typeof CHANNELS;

/** Every library that there is a file for. */
export const LIBRARY_NAMES = Object.keys(CHANNELS) as readonly LibraryName[];

/** The channels of a library's first message. */
export function firstChannels(name: LibraryName): string[] {
  return CHANNELS[name].map((channel) => `tracing:${channel}:start`);
}
