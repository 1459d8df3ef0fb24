import type { InjectedName } from '../watched-channels.js';
import { adapters } from './adapters.js';
import { amqplib } from './amqplib.js';
import {
  async,
  asyncLock,
  bluebird,
  bottleneck,
  bull,
  dataloader,
  fastq,
  lruMemoizer,
  pQueue,
  q,
} from './carriers.js';
import { express, express4 } from './express.js';
import { fastify } from './fastify.js';
import { grpc } from './grpc.js';
import { h3 } from './h3.js';
import { call, method } from './injected-file.js';
import type { Injection } from './injected-file.js';
import { koa } from './koa.js';
import { mysql2 } from './mysql2.js';
import { pg } from './pg.js';
import { ioredis, redis, redis3 } from './redis.js';
import { undici } from './undici.js';
import { callOutside } from '../engine/callers.js';
import { isObject } from '../engine/payload.js';
import { frameworkRouteFound } from '../engine/router-matches.js';
import { serveWebRequest } from '../engine/socketless-requests.js';
import { SOCKETLESS } from '../watched-channels.js';

/**
 * What is put into each library without channels of its own, and into earlier versions that had none yet. The form of
 * a file decides, not the library's version.
 */
export const INJECTIONS: Readonly<Record<InjectedName, Injection>> = {
  adapters,
  amqplib,
  async,
  'async-lock': asyncLock,
  bluebird,
  bottleneck,
  bull,
  bullmq: {
    files: [
      {
        package: 'bullmq',
        path: /^dist\/cjs\/classes\/queue\.js$/,
        only: /upsertJobScheduler/,
        methods: [
          method('orchestrion:bullmq:add', 'Queue.prototype', 'addJob', 'add'),
          method('orchestrion:bullmq:addBulk', 'Queue.prototype', 'addBulk'),
          method('orchestrion:bullmq:schedule', 'Queue.prototype', 'upsertJobScheduler'),
        ],
      },
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
        path: /^dist\/cjs\/classes\/flow-producer\.js$/,
        methods: [
          method('orchestrion:bullmq:addFlow', 'FlowProducer.prototype', 'add'),
          method('orchestrion:bullmq:addFlows', 'FlowProducer.prototype', 'addBulk'),
        ],
      },
      {
        package: 'bullmq',
        path: /^dist\/cjs\/classes\/worker\.js$/,
        methods: [method('orchestrion:bullmq:process', 'Worker.prototype', 'callProcessJob')],
        // A worker may be started by what needs it first.
        texts: [
          {
            channel: 'orchestrion:bullmq:process',
            from: /\basync run\(\) \{/,
            to: 'run() { return $channel.outside(() => this.run$tracewright()); } async run$tracewright() {',
            isOptional: true,
          },
        ],
      },
    ],
    calls: () => ({ outside: callOutside }),
  },
  dataloader,
  express,
  express4,
  fastify,
  fastq,
  'generic-pool': {
    files: [
      {
        package: 'generic-pool',
        path: /^lib\/Pool\.js$/,
        methods: [method('orchestrion:generic-pool:acquire', 'Pool.prototype', 'acquire')],
      },
    ],
  },
  graphql16: {
    files: [
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
  },
  grpc,
  h3,
  hono: {
    files: [
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
          ...['rest[1], rest[0]', 'executionCtx, Env'].map((given) => ({
            channel: SOCKETLESS,
            from: new RegExp(
              `this\\.#?dispatch\\(request, ${given.replaceAll(/[[\]]/g, '\\$&')}, request\\.method\\)`,
            ),
            to: `(${given.split(', ')[1]!}?.incoming ? $match : $channel.served(request, () => $match))`,
            isOptional: true,
          })),
        ],
      },
    ],
    calls: () => ({ served: serveWebRequest }),
  },
  ioredis,
  kafkajs: {
    files: [
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
  },
  knex: {
    files: [
      {
        package: 'knex',
        path: /^lib\/client\.js$/,
        methods: [
          method('orchestrion:knex:acquire', 'module.exports.prototype', 'acquireConnection'),
        ],
      },
    ],
  },
  koa,
  'lru-memoizer': lruMemoizer,
  mssql: {
    files: [
      {
        package: 'mssql',
        path: /^lib\/base\/connection-pool\.js$/,
        unless: /require\('\.\.\/diagnostics'\)/,
        reason: 'it publishes nothing; 12.7.0 and later do',
      },
    ],
  },
  mysql2,
  mongodb: {
    files: [
      {
        package: 'mongodb',
        path: /^lib\/operations\/execute_operation\.js$/,
        methods: [method('orchestrion:mongodb:operation', 'exports', 'executeOperation')],
      },
    ],
  },
  nest: {
    files: [
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
  },
  'p-queue': pQueue,
  pg,
  q,
  redis,
  redis3,
  'socket.io': {
    files: [
      {
        package: 'socket.io',
        path: /^dist\/index\.js$/,
        methods: [method('orchestrion:socket.io:connect', 'Server.prototype', 'onconnection')],
      },
      {
        package: 'socket.io',
        path: /^dist\/socket\.js$/,
        // Before 3.0.5.
        only: /super\.emit\.apply\(this, args\)/,
        texts: [
          {
            channel: 'orchestrion:socket.io:event',
            from: 'super.emit.apply(this, args)',
            to: '$channel.emit(this, ...args)',
          },
        ],
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
      // Socket.IO 2.
      {
        package: 'socket.io',
        path: /^lib\/index\.js$/,
        methods: [method('orchestrion:socket.io:connect', 'Server.prototype', 'onconnection')],
      },
      {
        package: 'socket.io',
        path: /^lib\/socket\.js$/,
        texts: [
          {
            channel: 'orchestrion:socket.io:event',
            from: 'emit.apply(self, event)',
            to: '$channel.emit(self, ...event)',
          },
        ],
      },
      // It answers requests before the program's server gets them.
      {
        package: 'engine.io',
        path: /^(?:build|lib)\/server\.js$/,
        texts: ['handleRequest(req, res)', 'handleUpgrade(req, socket, head)'].map((handling) => ({
          channel: 'orchestrion:socket.io:connect',
          from: new RegExp(`(?:this|self)\\.${handling.replaceAll(/[()]/g, '\\$&')}`),
          to: '$channel.routed(req, path); $match',
          isOptional: true,
        })),
      },
    ],
    calls: () => ({
      routed(request: unknown, path: unknown) {
        if (isObject(request) && typeof path === 'string') frameworkRouteFound(request, path);
      },
    }),
  },
  undici,
  ws: {
    files: [
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
  },
};
