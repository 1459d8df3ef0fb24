import type { Server } from './engine/kept-descriptions.js';
import { redisBatch, redisCommand, redisConnect } from './engine/redis-commands.js';
import type { Library, Operation } from './library.js';

interface Connect extends Server {
  /** How many connections of this client there were before. */
  connectionEpoch?: unknown;
}

const connect: Operation<Connect> = {
  ...redisConnect('ioredis:connect'),
  isDetached: ({ connectionEpoch }) => typeof connectionEpoch === 'number' && connectionEpoch > 0,
};

export const ioredis: Library = {
  name: 'ioredis',
  operations: [
    redisCommand('ioredis:command'),
    // `MULTI`; its commands are published too.
    redisBatch('ioredis:batch'),
    connect,
  ],
};
