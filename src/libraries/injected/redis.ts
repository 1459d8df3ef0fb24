import type { EventEmitter } from 'node:events';
import { asCaller, boundCallback, hasCaller, keepCaller } from '../engine/callers.js';
import type {
  AnyFunction,
  CallChannels,
  DirectCalls,
  PublishedMessage,
} from '../engine/published-calls.js';
import type { ActiveContext } from '../../spans/context/active-context.js';
import { spans } from '../../spans/shared-spans.js';
import { PUBLISHES } from './injected-file.js';
import type { InjectedFile, Injection, PublishedMethod } from './injected-file.js';
import {
  directOf,
  isPublished,
  markPublished,
  publishFailure,
  publishStart,
  publishSuccess,
} from './published-starts.js';
import type { Fields } from './published-starts.js';

/** The server in the messages of a library, as fields of an object literal. */
const SERVER =
  "database: options?.database ?? 0, serverAddress: options?.socket?.host ?? options?.socket?.path ?? 'localhost', serverPort: options?.socket?.port";
const IOREDIS_SERVER =
  'database: options.db, serverAddress: options.path ?? options.host, serverPort: options.path == null ? options.port : undefined';

/** A command that its library settles by functions of its own. */
interface SettledCommand {
  resolve: AnyFunction;
  reject: AnyFunction;
}

/** Publishes a command until it is settled. Its promise may be handled or not, as without this. */
function publishSettled(channels: CallChannels, command: SettledCommand, fields: Fields): void {
  const message = publishStart(channels, command, fields);
  if (message === undefined) return;
  const { resolve, reject } = command;
  command.resolve = function (result) {
    publishSuccess(channels, message);
    return resolve.call(this, result);
  };
  command.reject = function (error) {
    publishFailure(channels, message, error);
    return reject.call(this, error);
  };
}

/** A command of redis 3. An error that has no callback is an event of the client. */
interface CalledCommand {
  callback: AnyFunction | undefined;
}

/** Publishes a command until its callback is called, which goes on where the program called. */
function publishCalled(
  channels: CallChannels,
  client: EventEmitter,
  command: CalledCommand,
  fields: Fields,
): void {
  const message = publishStart(channels, command, fields);
  if (message === undefined) return;
  const { callback } = command;
  const own = callback === undefined ? undefined : spans.bind(callback);
  command.callback = function (...outcome) {
    const [error] = outcome;
    if (error === undefined || error === null) publishSuccess(channels, message);
    else publishFailure(channels, message, error);
    if (own !== undefined) return own.apply(this, outcome);
    if (error !== undefined && error !== null) client.emit('error', error);
    return undefined;
  };
}

interface Message extends PublishedMessage {
  command: unknown;
  database: unknown;
  serverAddress: unknown;
  serverPort: unknown;
}

/** The socket of a client of ioredis or `redis`. */
interface SocketOptions {
  path?: unknown;
  host?: unknown;
  port?: unknown;
}

/** A client of ioredis that publishes its commands. */
interface PublishingClient {
  condition?: { select?: unknown } | null;
  options: SocketOptions & { db?: unknown };
}

/**
 * Records a command of ioredis that has been written, without the message that the library makes: that has the
 * arguments. False: the library is to publish it.
 */
function isRecorded(
  channels: CallChannels,
  client: PublishingClient,
  command: SettledCommand & { name: unknown },
): boolean {
  const direct = directOf(channels);
  if (direct === undefined) return false;
  if (!hasCaller(command)) recordSettled(direct, client, command);
  else if (!isPublished(command)) {
    asCaller(command, () => {
      recordSettled(direct, client, command);
    });
  }
  return true;
}

/** Records a command that waits for a connection: it has begun where the program asked for it. */
function recordQueued(
  channels: CallChannels,
  client: PublishingClient,
  command: SettledCommand & { name: unknown },
): void {
  keepCaller(command);
  if (isRecorded(channels, client, command)) markPublished(command);
}

/** A pipeline that ioredis makes by itself of what the program asks for one by one. */
interface AutomaticPipeline {
  readonly _queue?: readonly object[];
}

function recordSettled(
  direct: DirectCalls,
  client: PublishingClient,
  command: SettledCommand & { name: unknown },
): void {
  if (direct.isUnheard) return;
  const { path, host, port, db } = client.options;
  const message: Message = {
    command: command.name,
    database: client.condition?.select ?? db ?? 0,
    // As its `_getServerAddress`, which makes an object.
    serverAddress: path || host || 'localhost',
    serverPort: path ? undefined : port || 6379,
  };
  const call = direct.begin(message);
  if (call !== undefined) endWhenSettled(direct, command, message, call);
}

function endWhenSettled(
  direct: DirectCalls,
  command: SettledCommand,
  message: PublishedMessage,
  call: object,
): void {
  const { resolve, reject } = command;
  command.resolve = function (result) {
    direct.end(message, call, false);
    return resolve.call(this, result);
  };
  command.reject = function (error) {
    message.error = error;
    direct.end(message, call, true);
    return reject.call(this, error);
  };
}

/** Sends a command of `redis`, and records it without the library's message, which has the arguments. */
function commandSender(channels: CallChannels) {
  return (
    args: readonly unknown[],
    database: unknown,
    socket: SocketOptions | undefined,
    trace: (name: unknown, send: AnyFunction, messageOf: unknown) => unknown,
    name: unknown,
    send: AnyFunction,
    messageOf: unknown,
  ): unknown => {
    const direct = directOf(channels);
    if (direct === undefined) return trace(name, send, messageOf);
    if (direct.isUnheard) return send();
    const isPath = socket !== undefined && 'path' in socket;
    const message: Message = {
      // By index: a pattern would make an iterator.
      command: String(args[0]),
      database,
      serverAddress: isPath ? socket.path : (socket?.host ?? 'localhost'),
      serverPort: isPath ? undefined : (socket?.port ?? 6379),
    };
    return direct.promise(send, message);
  };
}

/** ioredis before 5.11: each command goes through one function, maybe twice. */
function ioredisFile(path: RegExp, from: string | RegExp): InjectedFile {
  return {
    package: 'ioredis',
    path,
    unless: PUBLISHES,
    texts: [
      {
        channel: 'ioredis:command',
        from,
        to: `$match $channel.settled(command, (({ options }) => ({ command: command.name, ${IOREDIS_SERVER} }))(this));`,
      },
    ],
    methods: [
      {
        channel: 'ioredis:connect',
        owner: 'Redis.prototype',
        names: ['connect'],
        fields: `({ options }) => ({ ${IOREDIS_SERVER} })`,
      },
    ],
  };
}

export const ioredis: Injection = {
  files: [
    {
      package: 'ioredis',
      path: /^built\/Redis\.js$/,
      only: /tracing_1\.traceCommand\)\(/,
      texts: [
        {
          channel: 'ioredis:command',
          from: '(0, tracing_1.traceCommand)(() => command.promise, () => this._buildCommandContext(command))',
          to: '($channel.isRecorded(this, command) ? command.promise : $channel.asCaller(command, () => $match))',
          isOptional: true,
        },
        {
          channel: 'ioredis:command',
          from: 'this.offlineQueue.push({ command',
          to: '$channel.queued(this, command), $match',
          isOptional: true,
        },
      ],
    },
    {
      package: 'ioredis',
      path: /^built\/autoPipelining\.js$/,
      texts: [
        {
          channel: 'ioredis:command',
          from: 'pipeline[functionName](...args)',
          to: '$match, $channel.piped(pipeline)',
        },
      ],
    },
    {
      package: 'ioredis',
      path: /^built\/cluster\/index\.js$/,
      texts: [
        {
          channel: 'ioredis:command',
          from: '_this.offlineQueue.push({ command',
          to: '$channel.keepCaller(command), $match',
          isOptional: true,
        },
      ],
    },
    ioredisFile(/^built\/Redis\.js$/, 'sendCommand(command, stream) {'),
    ioredisFile(/^built\/redis\/index\.js$/, 'function (command, stream) {'),
  ],
  calls: (channels) => ({
    settled: (command: SettledCommand, fields: Fields) => {
      asCaller(command, () => {
        publishSettled(channels, command, fields);
      });
    },
    asCaller,
    keepCaller,
    piped: ({ _queue: queue }: AutomaticPipeline) => {
      const last = queue?.at(-1);
      if (last !== undefined) keepCaller(last);
    },
    queued: (client: PublishingClient, command: SettledCommand & { name: unknown }) => {
      recordQueued(channels, client, command);
    },
    isRecorded: (client: PublishingClient, command: SettledCommand & { name: unknown }) =>
      isRecorded(channels, client, command),
  }),
};

/** The methods of a client of `@redis/client` that its earlier versions have under other names. */
function clientMethods(
  batches: readonly (readonly [name: string, mode: string, length?: string])[],
): PublishedMethod[] {
  return [
    {
      channel: 'node-redis:connect',
      owner: 'RedisClient.prototype',
      names: ['connect'],
      fields: `({ options }) => ({ ${SERVER} })`,
    },
    ...batches.map(([name, mode, length = 'commands?.length']) => ({
      channel: 'node-redis:batch',
      owner: 'RedisClient.prototype',
      names: [name],
      fields: `({ options }, [commands, , chain]) => ({ batchMode: ${mode}, batchSize: ${length}, ${SERVER} })`,
    })),
  ];
}

const PROMISED = `$channel.promised(() => $match, { command: String(args[0]), ...(({ options }) => ({ ${SERVER} }))(this) })`;

/** The contexts in which the program subscribed, by listener. */
const subscribers = new WeakMap<object, ActiveContext | undefined>();

/** Calls a listener to a message: where the program subscribed, as long as the span there is open. */
function hear(listener: AnyFunction, ...message: unknown[]): void {
  const context = subscribers.get(listener);
  if (context?.activeSpan?.recording === true) spans.runWith(context, listener, ...message);
  else listener(...message);
}

/** `@redis/client`. Before 5.12 it publishes nothing. */
export const redis: Injection = {
  files: [
    {
      package: '@redis/client',
      path: /^dist\/lib\/client\/pub-sub\.js$/,
      texts: [
        {
          channel: 'node-redis:command',
          from: /(?<!un)\bsubscribe\(type, channels, listener, returnBuffers\) \{/,
          to: '$match $channel.subscribed(listener);',
          isOptional: true,
        },
        ...['message, channel', 'messageString, channelString'].map((values) => ({
          channel: 'node-redis:command',
          from: `listener(${values})`,
          to: `$channel.hear(listener, ${values})`,
          isOptional: true,
        })),
      ],
    },
    {
      // Another one returns the client that a task waits for.
      package: '@redis/client',
      path: /^dist\/lib\/client\/pool\.js$/,
      texts: [
        {
          channel: 'node-redis:command',
          from: 'execute(fn) {',
          to: '$match fn = $channel.bound(fn);',
          isOptional: true,
        },
      ],
    },
    {
      package: '@redis/client',
      path: /^dist\/lib\/client\/index\.js$/,
      only: /tracing_1\.CHANNELS\.TRACE_COMMAND/,
      texts: [
        {
          channel: 'node-redis:command',
          from: '(0, tracing_1.trace)(tracing_1.CHANNELS.TRACE_COMMAND, () => {',
          to: '$channel.sent(args, this._self.#selectedDB, this._self.#options.socket, tracing_1.trace, tracing_1.CHANNELS.TRACE_COMMAND, () => {',
          isOptional: true,
        },
      ],
    },
    {
      package: '@redis/client',
      path: /^dist\/lib\/client\/index\.js$/,
      unless: PUBLISHES,
      only: /_RedisClient_sendCommand = /,
      texts: [
        {
          channel: 'node-redis:command',
          from: '__classPrivateFieldGet(this, _RedisClient_queue, "f").addCommand(args, options)',
          to: PROMISED,
        },
        {
          // The commands of a pipeline, which has no identity, or of a transaction.
          channel: 'node-redis:command',
          from: '__classPrivateFieldGet(this, _RedisClient_queue, "f").addCommand(args, { chainId })',
          to: `(chainId === undefined ? ${PROMISED} : $match)`,
          isOptional: true,
        },
      ],
      methods: clientMethods([
        [
          'multiExecutor',
          "chain === undefined ? 'PIPELINE' : 'MULTI'",
          // Before 1.5.16 the commands of a transaction have MULTI and EXEC around them.
          "commands[0]?.args?.[0] === 'MULTI' ? commands.length - 2 : commands.length",
        ],
      ]),
    },
    {
      package: '@redis/client',
      path: /^dist\/lib\/client\/index\.js$/,
      unless: PUBLISHES,
      texts: [
        {
          // Of a pipeline. A transaction has read the types before.
          channel: 'node-redis:command',
          from: 'this._self.#queue.addCommand(args, { chainId, typeMapping: this._commandOptions?.typeMapping })',
          to: PROMISED,
          isOptional: true,
        },
      ],
      methods: [
        {
          channel: 'node-redis:command',
          owner: 'RedisClient.prototype',
          names: ['sendCommand'],
          fields: `({ options }, [args]) => ({ command: String(args?.[0]), ${SERVER} })`,
        },
        ...clientMethods([
          ['_executeMulti', "'MULTI'"],
          ['_executePipeline', "'PIPELINE'"],
        ]),
      ],
    },
  ],
  calls: (channels) => ({
    bound: boundCallback,
    hear,
    sent: commandSender(channels),
    subscribed: (listener: unknown) => {
      if (typeof listener === 'function') subscribers.set(listener, spans.activeContext());
    },
  }),
};

export const redis3: Injection = {
  files: [
    {
      package: 'redis',
      path: /^index\.js$/,
      only: /internal_send_command = /,
      texts: [
        {
          channel: 'orchestrion:redis:command',
          from: 'function (command_obj) {',
          to: '$match $channel.called(this, command_obj, { command: command_obj.command, database: this.selected_db ?? 0, serverAddress: this.connection_options.path ?? this.connection_options.host, serverPort: this.connection_options.port });',
        },
      ],
    },
  ],
  calls: (channels) => ({
    called: (client: EventEmitter, command: CalledCommand, fields: Fields) => {
      publishCalled(channels, client, command, fields);
    },
  }),
};
