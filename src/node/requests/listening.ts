import type { Server } from 'node:net';
import { spans } from '../../spans/shared-spans.js';
import { Guard } from '../guard.js';

interface Message {
  server: Server & { _listen2?: (...args: unknown[]) => unknown };
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
  };
  guard.subscribe('tracing:net.server.listen:asyncEnd', end);
  guard.subscribe('tracing:net.server.listen:error', end);
}
