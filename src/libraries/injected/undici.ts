import { asCaller, keepCaller } from '../engine/callers.js';
import { calledSocket } from '../engine/called-socket.js';
import type { CallChannels, MethodMessage } from '../engine/published-calls.js';
import type { ChangedText, Injection } from './injected-file.js';

/** A request, with the parts that undici documents. */
interface UndiciRequest {
  readonly body?: unknown;
}

type RequestClass = new (...args: unknown[]) => UndiciRequest;

/** Requests that wait for one of a pool's clients, by what handles their answer. */
const pooled = new WeakMap<object, MethodMessage>();

/** Publishes that a request is given to a pool, which may keep it. */
function publishPooled({ start, end }: CallChannels, self: unknown, handler: unknown): void {
  if (!start.hasSubscribers || typeof handler !== 'object' || handler === null) return;
  if (pooled.has(handler)) return;
  const message: MethodMessage = { self, arguments: [] };
  pooled.set(handler, message);
  start.publish(message);
  end.publish(message);
}

/** The path of a unix socket, by the function that connects to it, or by the client that does so. */
const socketPaths = new WeakMap<object, string>();

/** Makes a request. Its body is read when the connection is free: where the program has asked for it. */
function makeRequest(client: object, Request: RequestClass, args: unknown[]): UndiciRequest {
  calledSocket.path = socketPaths.get(client);
  let request: UndiciRequest;
  try {
    request = new Request(...args);
  } finally {
    calledSocket.path = undefined;
  }
  if (typeof request.body === 'object' && request.body !== null) keepCaller(request);
  return request;
}

/** Makes the request of a client, where the program asked for it: the pool may have kept it since. */
function madeRequest(
  { asyncStart, asyncEnd }: CallChannels,
  client: unknown,
  handler: object,
  make: () => UndiciRequest,
): unknown {
  const message = pooled.get(handler);
  if (message === undefined) return make();
  pooled.delete(handler);
  message.result = client;
  return asyncStart.runStores(message, () => {
    // The wait is over before the request begins.
    asyncEnd.publish(message);
    return make();
  });
}

function inCaller(from: string | RegExp): ChangedText {
  return {
    channel: 'orchestrion:undici:pool',
    from,
    to: '$channel.as(request, () => $match)',
    isOptional: true,
  };
}

export const undici: Injection = {
  files: [
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
        // A client of a pool, and any client.
        ...['const customConnect = connect', 'this[kConnector] = connect'].map((from) => ({
          channel: 'orchestrion:undici:pool',
          from,
          to: '$match; $channel.connects(this, connect, socketPath)',
          isOptional: true,
        })),
      ],
    },
    {
      package: 'undici',
      path: /^lib\/core\/connect\.js$/,
      texts: [
        {
          channel: 'orchestrion:undici:pool',
          from: 'return function connect ({',
          to: 'return $channel.connector(socketPath, connect$tracewright); function connect$tracewright ({',
          isOptional: true,
        },
      ],
    },
    {
      package: 'undici',
      path: /^lib\/dispatcher\/client-h[12]\.js$/,
      texts: [
        // It asks whether a body is empty.
        inCaller('body.read(0)'),
        inCaller(/\bwriteStream\([^()]*\)/),
        inCaller(/\bwriteIterable\([^()]*\)/),
        // When the connection can take more.
        inCaller(/(?<=return\s+\}\s+if \(body\.resume\) \{\s+)body\.resume\(\)/),
      ],
    },
  ],
  calls: (channels) => ({
    pooled: (self: unknown, handler: unknown) => {
      publishPooled(channels, self, handler);
    },
    made: (client: object, handler: object, Request: RequestClass, ...args: unknown[]) =>
      madeRequest(channels, client, handler, () => makeRequest(client, Request, args)),
    connector(path: unknown, connect: object) {
      if (typeof path === 'string') socketPaths.set(connect, path);
      return connect;
    },
    connects(client: object, connect: object, given: unknown) {
      const path = typeof given === 'string' ? given : socketPaths.get(connect);
      if (path !== undefined) socketPaths.set(client, path);
    },
    as: asCaller,
  }),
};
