import type { InjectedName } from './watched-channels.js';

/** A function whose calls are published with `self`, `arguments`, and `result` or `error`. */
interface PublishedMethod {
  readonly channel: string;
  /** The object that has it, as an expression of the file. */
  readonly owner: string;
  /** The first of these that the object has. */
  readonly names: readonly string[];
  /** A function of the object and the arguments, as an expression: it returns further fields of the message. */
  readonly fields?: string;
}

/** A text that is changed: it is found exactly once, and spaces in a string may be any white space. */
export interface ChangedText {
  readonly channel: string;
  readonly from: string | RegExp;
  /** In it, `$channel` is the tracing channel, and `$match` the text. */
  readonly to: string;
}

/** A file of a library into which channels are put. */
export interface InjectedFile {
  readonly package: string;
  /** Its path in the package, with `/`. */
  readonly path: RegExp;
  readonly methods?: readonly PublishedMethod[];
  readonly texts?: readonly ChangedText[];
  /** A file with this in it is left as it is: it has channels of its own. */
  readonly unless?: RegExp;
  /** Only of a file with this in it. */
  readonly only?: RegExp;
  /** Why nothing can be put into it, for the warning. */
  readonly reason?: string;
}

function method(channel: string, owner: string, ...names: string[]): PublishedMethod {
  return { channel, owner, names };
}

/**
 * Publishes a call of a function of the program.
 *
 * @param start of the call's text: the function and its first parameters.
 * @param message names and expressions of the message's fields.
 * @param receiver the expression of its `this`.
 */
function call(channel: string, start: string, message: string, receiver = 'void 0'): ChangedText {
  const end = start.indexOf('(');
  const callee = start.slice(0, end);
  const to = `$channel.traceSync(${callee}, { ${message} }, ${receiver}, ${start.slice(end + 1)}`;
  return { channel, from: start, to };
}

/** What the channels of a library say of its server, as fields of an object literal. */
const REDIS_SERVER =
  "database: options?.database ?? 0, serverAddress: options?.socket?.host ?? options?.socket?.path ?? 'localhost', serverPort: options?.socket?.port";
const IOREDIS_SERVER =
  'database: options.db, serverAddress: options.path ?? options.host, serverPort: options.path == null ? options.port : undefined';
const MYSQL_SERVER =
  'database: config.database, serverAddress: config.socketPath ?? config.host, serverPort: config.socketPath == null ? config.port : undefined';
/** Of a library that publishes what it does. */
const PUBLISHES = /diagnostics_channel|tracing/i;

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
        fields: `({ options, connectionEpoch }) => ({ connectionEpoch, ${IOREDIS_SERVER} })`,
      },
    ],
  };
}

/** The methods of a client of `@redis/client` that its earlier versions have under other names. */
function redisMethods(
  batches: readonly (readonly [name: string, mode: string])[],
): PublishedMethod[] {
  return [
    {
      channel: 'node-redis:connect',
      owner: 'RedisClient.prototype',
      names: ['connect'],
      fields: `({ options }) => ({ ${REDIS_SERVER} })`,
    },
    ...batches.map(([name, mode]) => ({
      channel: 'node-redis:batch',
      owner: 'RedisClient.prototype',
      names: [name],
      fields: `({ options }, [commands, , chain]) => ({ batchMode: ${mode}, batchSize: commands?.length, ${REDIS_SERVER} })`,
    })),
  ];
}

/**
 * The files of each library without channels of its own, and of earlier versions that had none yet. Their form
 * decides, not the library's version.
 */
export const INJECTIONS: Readonly<Record<InjectedName, readonly InjectedFile[]>> = {
  amqplib: [
    {
      package: 'amqplib',
      path: /^lib\/channel\.js$/,
      methods: [
        method('orchestrion:amqplib:publish', 'Channel.prototype', 'sendMessage'),
        method('orchestrion:amqplib:process', 'BaseChannel.prototype', 'dispatchMessage'),
      ],
    },
  ],
  bullmq: [
    {
      package: 'bullmq',
      path: /^dist\/cjs\/classes\/queue\.js$/,
      methods: [
        method('orchestrion:bullmq:add', 'Queue.prototype', 'addJob', 'add'),
        method('orchestrion:bullmq:addBulk', 'Queue.prototype', 'addBulk'),
      ],
    },
    {
      package: 'bullmq',
      path: /^dist\/cjs\/classes\/worker\.js$/,
      methods: [method('orchestrion:bullmq:process', 'Worker.prototype', 'callProcessJob')],
    },
  ],
  express4: [
    {
      package: 'express',
      path: /^lib\/router\/layer\.js$/,
      texts: [
        call('orchestrion:express:layer', 'fn(req, res, next', 'handler: fn, layer: this, req'),
        call(
          'orchestrion:express:layer',
          'fn(error, req, res, next',
          'failed: error, handler: fn, layer: this, req',
        ),
      ],
    },
    {
      package: 'express',
      path: /^lib\/router\/index\.js$/,
      texts: [
        call(
          'orchestrion:express:layer',
          'fn(req, res, paramCallback, paramVal, key.name',
          'handler: fn, param: key.name, req',
        ),
      ],
    },
  ],
  fastify: [
    {
      package: 'fastify',
      path: /^lib\/handleRequest\.js$/,
      unless: PUBLISHES,
      texts: [
        {
          channel: 'fastify.request.handler',
          from: /(?:(?:request|reply)\[kRouteContext\]|reply\.context)(?=\.handler\(request, reply\))/,
          to: '$channel.routed($match, request)',
        },
      ],
    },
  ],
  'generic-pool': [
    {
      package: 'generic-pool',
      path: /^lib\/Pool\.js$/,
      methods: [method('orchestrion:generic-pool:acquire', 'Pool.prototype', 'acquire')],
    },
  ],
  graphql16: [
    {
      package: 'graphql',
      path: /^execution\/execute\.js$/,
      methods: [method('orchestrion:graphql:execute', 'exports', 'execute')],
      unless: /diagnostics/,
    },
    {
      package: 'graphql',
      path: /^(?:execution|subscription)\/subscribe\.js$/,
      methods: [method('orchestrion:graphql:subscribe', 'exports', 'subscribe')],
      unless: /diagnostics/,
    },
  ],
  grpc: [
    {
      package: '@grpc/grpc-js',
      path: /^build\/src\/client-interceptors\.js$/,
      texts: [
        {
          channel: 'orchestrion:@grpc/grpc-js:call',
          from: 'return getCall(interceptorOptions)',
          to: 'return $channel.started(getCall(interceptorOptions), { channel, definition: methodDefinition })',
        },
      ],
    },
  ],
  hono: [
    {
      package: 'hono',
      path: /^dist\/(?:cjs\/)?compose\.js$/,
      texts: [
        call(
          'orchestrion:hono:handler',
          'handler(context,',
          'context, handlers: middleware, index: i',
        ),
      ],
    },
    {
      package: 'hono',
      path: /^dist\/(?:cjs\/)?hono-base\.js$/,
      // The only function of a request is called without `compose`.
      texts: [
        call(
          'orchestrion:hono:handler',
          'matchResult[0][0][0][0](c,',
          'context: c, matched: matchResult',
          'matchResult[0][0][0]',
        ),
      ],
    },
  ],
  ioredis: [
    ioredisFile(/^built\/Redis\.js$/, 'sendCommand(command, stream) {'),
    ioredisFile(/^built\/redis\/index\.js$/, 'function (command, stream) {'),
  ],
  kafkajs: [
    {
      package: 'kafkajs',
      path: /^src\/producer\/messageProducer\.js$/,
      texts: [
        {
          channel: 'orchestrion:kafkajs:publish',
          from: 'const sendBatch = async (',
          to:
            'const sendBatch = (...batch) => $channel.call(sendBatch$tracewright, void 0, batch), ' +
            'sendBatch$tracewright = async (',
        },
      ],
    },
    {
      package: 'kafkajs',
      path: /^src\/consumer\/runner\.js$/,
      texts: [
        call(
          'orchestrion:kafkajs:process',
          'this.eachMessage({',
          'message, partition, runner: this, topic',
          'this',
        ),
        call(
          'orchestrion:kafkajs:process',
          'this.eachBatch({',
          'batch, partition: batch.partition, runner: this, topic: batch.topic',
          'this',
        ),
      ],
    },
  ],
  knex: [
    {
      package: 'knex',
      path: /^lib\/client\.js$/,
      methods: [
        method('orchestrion:knex:acquire', 'module.exports.prototype', 'acquireConnection'),
      ],
    },
  ],
  koa: [
    {
      package: 'koa-compose',
      path: /^index\.js$/,
      texts: [call('orchestrion:koa-compose:middleware', 'fn(context,', 'context, handler: fn')],
    },
  ],
  mssql: [
    {
      package: 'mssql',
      path: /^lib\/base\/connection-pool\.js$/,
      unless: /require\('\.\.\/diagnostics'\)/,
      reason: 'it publishes nothing; 12.7.0 and later do',
    },
  ],
  mysql2: [
    {
      package: 'mysql2',
      path: /^lib\/(?:base\/)?connection\.js$/,
      unless: PUBLISHES,
      only: /\baddCommand\(cmd\) \{/,
      texts: [
        {
          channel: 'mysql2:query',
          from: 'addCommand(cmd) {',
          to: `$match $channel.queued(this, cmd, (({ config }) => ({ ${MYSQL_SERVER} }))(this));`,
        },
        {
          channel: 'mysql2:connect',
          from: '_notifyError(err) {',
          to: '$match $channel.unconnected(this, err);',
        },
      ],
    },
    {
      package: 'mysql2',
      path: /^lib\/(?:base\/)?pool\.js$/,
      unless: PUBLISHES,
      only: /\bgetConnection\(cb\) \{\s*if \(this\._closed/,
      texts: [
        {
          channel: 'mysql2:pool:connect',
          from: 'getConnection(cb) {',
          to: `$match cb = $channel.waited(cb, ((config) => ({ ${MYSQL_SERVER} }))(this.config.connectionConfig));`,
        },
      ],
    },
  ],
  mongodb: [
    {
      package: 'mongodb',
      path: /^lib\/operations\/execute_operation\.js$/,
      methods: [method('orchestrion:mongodb:operation', 'exports', 'executeOperation')],
    },
  ],
  nest: [
    {
      package: '@nestjs/core',
      path: /^router\/router-execution-context\.js$/,
      texts: [
        call(
          'orchestrion:@nestjs/core:handler',
          'callback.apply(instance, args',
          'controller: instance.constructor, method: methodName',
          'callback',
        ),
      ],
    },
  ],
  pg: [
    {
      package: 'pg',
      path: /^lib\/connection\.js$/,
      only: /readyState === 'open'/,
      reason:
        'it cannot connect on Node 14 and later, with the hook or without; 8.0.3 and later can',
    },
    {
      package: 'pg',
      path: /^lib\/client\.js$/,
      methods: [
        method('orchestrion:pg:query', 'Client.prototype', 'query'),
        method('orchestrion:pg:connect', 'Client.prototype', 'connect'),
      ],
    },
    {
      package: 'pg-pool',
      path: /^index\.js$/,
      methods: [method('orchestrion:pg-pool:connect', 'Pool.prototype', 'connect')],
    },
  ],
  redis: [
    {
      package: '@redis/client',
      path: /^dist\/lib\/client\/index\.js$/,
      unless: PUBLISHES,
      only: /_RedisClient_sendCommand = /,
      texts: [
        {
          channel: 'node-redis:command',
          from: '__classPrivateFieldGet(this, _RedisClient_queue, "f").addCommand(args, options)',
          to: `$channel.promised(() => $match, { command: String(args[0]), ...(({ options }) => ({ ${REDIS_SERVER} }))(this) })`,
        },
      ],
      methods: redisMethods([['multiExecutor', "chain === undefined ? 'PIPELINE' : 'MULTI'"]]),
    },
    {
      package: '@redis/client',
      path: /^dist\/lib\/client\/index\.js$/,
      unless: PUBLISHES,
      methods: [
        {
          channel: 'node-redis:command',
          owner: 'RedisClient.prototype',
          names: ['sendCommand'],
          fields: `({ options }, [args]) => ({ command: String(args?.[0]), ${REDIS_SERVER} })`,
        },
        ...redisMethods([
          ['_executeMulti', "'MULTI'"],
          ['_executePipeline', "'PIPELINE'"],
        ]),
      ],
    },
  ],
  redis3: [
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
  'socket.io': [
    {
      package: 'socket.io',
      path: /^dist\/index\.js$/,
      methods: [method('orchestrion:socket.io:connect', 'Server.prototype', 'onconnection')],
    },
    {
      package: 'socket.io',
      path: /^dist\/socket\.js$/,
      texts: [
        {
          channel: 'orchestrion:socket.io:event',
          from: /super\.emit(?:Untyped)?\.apply\(this, event\)/,
          to: '$channel.emit(this, ...event)',
        },
      ],
    },
  ],
  undici: [
    {
      package: 'undici',
      path: /^lib\/dispatcher\/pool-base\.js$/,
      texts: [
        {
          channel: 'orchestrion:undici:pool',
          from: '[kDispatch] (opts, handler) {',
          to: '[kDispatch] (opts, handler) { $channel.pooled(this, handler);',
        },
      ],
    },
    {
      package: 'undici',
      path: /^lib\/dispatcher\/client\.js$/,
      texts: [
        {
          channel: 'orchestrion:undici:pool',
          from: /new Request\((?=(?:origin|this\[kUrl\]\.origin), opts, handler\))/,
          to: '$channel.made(this, handler, Request, ',
        },
      ],
    },
  ],
  ws: [
    {
      package: 'ws',
      path: /^lib\/websocket-server\.js$/,
      methods: [method('orchestrion:ws:accept', 'module.exports.prototype', 'completeUpgrade')],
    },
    {
      package: 'ws',
      path: /^lib\/websocket\.js$/,
      texts: [
        {
          channel: 'orchestrion:ws:message',
          from: "this[kWebSocket].emit('message',",
          to: "$channel.emit(this[kWebSocket], 'message',",
        },
      ],
    },
  ],
};
