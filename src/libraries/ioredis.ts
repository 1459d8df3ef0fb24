import * as names from './engine/conventions.js';
import { number, requiredText } from './engine/payload.js';
import { commandName, redisAttributes, redisFailure } from './engine/redis-commands.js';
import type { RedisPlace } from './engine/redis-commands.js';
import type { Library, Operation } from './library.js';

/** Its `args` are keys and more, whatever their name says: never read. */
interface Command extends RedisPlace {
  command?: unknown;
}

interface Transaction extends RedisPlace {
  batchMode?: unknown;
  batchSize?: unknown;
}

interface Connect extends RedisPlace {
  /** How many connections of this client there were before. */
  connectionEpoch?: unknown;
}

const command: Operation<Command> = {
  channel: 'ioredis:command',
  kind: 'client',
  describe(message) {
    const name = commandName(requiredText(message.command, 'command'));
    return { name, attributes: redisAttributes(name, message) };
  },
  failure: redisFailure,
};

/** `MULTI`; its commands are published too. */
const transaction: Operation<Transaction> = {
  channel: 'ioredis:batch',
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

const connect: Operation<Connect> = {
  channel: 'ioredis:connect',
  kind: 'client',
  describe: (message) => ({
    name: 'redis connect',
    attributes: redisAttributes(undefined, message),
  }),
  isDetached: ({ connectionEpoch }) => typeof connectionEpoch === 'number' && connectionEpoch > 0,
  failure: redisFailure,
};

export const ioredis: Library = { name: 'ioredis', operations: [command, transaction, connect] };
