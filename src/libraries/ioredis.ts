import { redisBatch, redisCommand, redisConnect } from './engine/redis-commands.js';
import type { Library } from './library.js';

export const ioredis: Library = {
  name: 'ioredis',
  operations: [
    redisCommand('ioredis:command'),
    // `MULTI`; its commands are published too.
    redisBatch('ioredis:batch'),
    redisConnect('ioredis:connect'),
  ],
};
