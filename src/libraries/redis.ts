import { redisBatch, redisCommand, redisConnect } from './engine/redis-commands.js';
import type { Library } from './library.js';

/** `redis` 3, into which the channel is injected. */
export const redis3: Library = {
  name: 'redis3',
  operations: [redisCommand('orchestrion:redis:command')],
};

/** `@redis/client`, which `redis` is made of. */
export const redis: Library = {
  name: 'redis',
  operations: [
    redisCommand('node-redis:command'),
    // `PIPELINE`, whose commands are published too, or `MULTI`, whose commands are not.
    redisBatch('node-redis:batch'),
    redisConnect('node-redis:connect'),
  ],
};
