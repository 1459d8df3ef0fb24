import type { InjectedName } from './watched-channels.js';

/** A function whose calls are published with `self`, `arguments`, and `result` or `error`. */
interface PublishedMethod {
  readonly channel: string;
  /** The object that has it, as an expression of the file. */
  readonly owner: string;
  /** The first of these that the object has. */
  readonly names: readonly string[];
}

/** A text that is changed: it is found exactly once, and spaces in a string may be any white space. */
export interface ChangedText {
  readonly channel: string;
  readonly from: string | RegExp;
  /** In it, `$channel` is the tracing channel. */
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

/** The files of each library without channels of its own. Their form decides, not the library's version. */
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
  koa: [
    {
      package: 'koa-compose',
      path: /^index\.js$/,
      texts: [call('orchestrion:koa-compose:middleware', 'fn(context,', 'context, handler: fn')],
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
