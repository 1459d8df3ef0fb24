import type { EventEmitter } from 'node:events';
import type { Server } from 'node:net';
import { spans } from '../../spans/shared-spans.js';
import { Guard } from '../guard.js';
import { emitInContext } from './emit-in-context.js';

interface Message {
  server: Server & { _listen2?: (...args: unknown[]) => unknown };
}

/** A socket of an agent of Node has its call, and one of undici its parser, as long as it speaks HTTP. Neither is documented. */
interface ClientSocket extends EventEmitter {
  /** None: of datagrams. */
  readonly bytesRead?: number;
  readonly _httpMessage?: unknown;
  readonly [parser: symbol]: unknown;
}

function parserKey(socket: ClientSocket): symbol | undefined {
  return Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser');
}

/**
 * Has what an emitter receives be below nobody, once the request that opened it is over: Node calls its listeners in the
 * context in which it was made, and clients keep a connection for all requests.
 *
 * @param isOwn whether an event is below its own.
 */
function belowNobody(
  emitter: EventEmitter | undefined,
  isOwn: (event: string | symbol) => boolean,
): void {
  const root = spans.activeContext()?.activeSpan?.root;
  // Anybody may publish on the channels of Node.
  if (root === undefined || typeof emitter?.emit !== 'function') return;
  emitInContext(
    undefined,
    emitter,
    (_, event) =>
      root.recording || spans.activeContext()?.activeSpan?.root !== root || isOwn(event),
  );
}

/** What comes by HTTP is below its own request. */
function speaksHttp(socket: ClientSocket | undefined): () => boolean {
  let parser: symbol | null | undefined;
  return () => {
    if (socket!._httpMessage) return true;
    if (parser === undefined) {
      const found = parserKey(socket!);
      // It gets its parser before the first bytes, if ever.
      if (found === undefined && socket!.bytesRead === 0) return false;
      parser = found ?? null;
    }
    return parser !== null && Boolean(socket![parser]);
  };
}

/** The end of a worker or a child concerns who started it. */
const isNoMessage = (event: string | symbol): boolean => event !== 'message';

/** Has what sockets, workers and child processes say after the request that began them be below nobody. */
export function answersBelowNobody(): void {
  const guard = new Guard('sockets, workers and child processes');
  const observe = (message: { socket?: ClientSocket } | null | undefined): void => {
    belowNobody(message?.socket, speaksHttp(message?.socket));
  };
  guard.subscribe('udp.socket', observe);
  guard.subscribe('net.client.socket', observe);
  guard.subscribe('worker_threads', (message: { worker?: EventEmitter } | null | undefined) => {
    belowNobody(message?.worker, isNoMessage);
  });
  guard.subscribe('child_process', (message: { process?: EventEmitter } | null | undefined) => {
    belowNobody(message?.process, isNoMessage);
  });
}

/** The timer by which a server of HTTP looks for requests that do not come. Node does not document it. */
interface Checks {
  _onTimeout?: unknown;
}

function checkBelowNobody(server: Server): void {
  const key = Object.getOwnPropertySymbols(server).find(
    ({ description }) => description === 'http.server.connectionsCheckingInterval',
  );
  const checks = key === undefined ? undefined : (Reflect.get(server, key) as Checks | undefined);
  const check = checks?._onTimeout;
  if (typeof check !== 'function') return;
  checks!._onTimeout = function (this: unknown, ...values: unknown[]): unknown {
    return spans.applyIn(undefined, check as (...values: unknown[]) => unknown, this, values);
  };
}

/**
 * Has the connections of a server be below nobody, also if it begins to listen within a span: Node runs what comes of a
 * connection in the context in which the server's handle was made.
 */
export function listenBelowNobody(): void {
  const guard = new Guard('servers that begin to listen');
  /** The server whose handle is being made, and what was active before. */
  let beginning: { server: Server; before: unknown } | undefined;

  guard.subscribe('tracing:net.server.listen:asyncStart', ({ server }: Message) => {
    if (spans.activeContext() === undefined) return;
    // Node makes the handle in this method, and calls it by its name so that programs can wrap it.
    const { _listen2: listen } = server;
    if (typeof listen !== 'function') return;
    const isOwn = Object.hasOwn(server, '_listen2');
    const value = function (this: Server, ...args: unknown[]): unknown {
      if (!isOwn) delete server._listen2;
      else server._listen2 = listen;
      beginning = { server, before: spans.swapContext(undefined) };
      try {
        return listen.apply(this, args);
      } finally {
        end({ server });
      }
    };
    Object.defineProperty(server, '_listen2', { value, configurable: true, writable: true });
  });
  // Published before the listeners for `listening` or `error` are called: those are the caller's.
  const end = ({ server }: Message): void => {
    if (beginning?.server !== server) return;
    spans.leaveContext(beginning.before);
    beginning = undefined;
    // The listener of Node that begins to look for slow requests is called before that.
    setImmediate(checkBelowNobody, server);
  };
  guard.subscribe('tracing:net.server.listen:asyncEnd', end);
  guard.subscribe('tracing:net.server.listen:error', end);
}
