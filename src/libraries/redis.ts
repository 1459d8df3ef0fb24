import * as names from './engine/conventions.js';
import { number, requiredText } from './engine/payload.js';
import { commandName, redisAttributes, redisFailure } from './engine/redis-commands.js';
import type { RedisPlace } from './engine/redis-commands.js';
import type { Library, Operation } from './library.js';

/** Its `args` are keys and more, whatever their name says: never read. */
interface Command extends RedisPlace {
  command?: unknown;
}

interface Batch extends RedisPlace {
  batchMode?: unknown;
  batchSize?: unknown;
}

const command: Operation<Command> = {
  channel: 'node-redis:command',
  kind: 'client',
  describe(message) {
    const name = commandName(requiredText(message.command, 'command'));
    return { name, attributes: redisAttributes(name, message) };
  },
  failure: redisFailure,
};

/** `PIPELINE`, whose commands are published too, or `MULTI`, whose commands are not. */
const batch: Operation<Batch> = {
  channel: 'node-redis:batch',
  kind: 'client',
  nests: true,
  describe(message) {
    const name = commandName(requiredText(message.batchMode, 'batchMode'));
    const attributes = redisAttributes(name, message);
    attributes[names.DB_BATCH_SIZE] = number(message.batchSize);
    return { name, attributes };
  },
  failure: redisFailure,
};

const connect: Operation<RedisPlace> = {
  channel: 'node-redis:connect',
  kind: 'client',
  describe: (message) => ({
    name: 'redis connect',
    attributes: redisAttributes(undefined, message),
  }),
  failure: redisFailure,
};

/** `@redis/client`, which `redis` is made of. */
export const redis: Library = { name: 'redis', operations: [command, batch, connect] };
