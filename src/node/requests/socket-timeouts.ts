import * as diagnostics from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { subscribe } from './channels.js';

/** The parts of a socket that Node does not document. */
interface Internals extends Socket {
  /** The request that is sent on it, or the response to one. */
  _httpMessage?: ClientRequest | null;
  _onTimeout?: () => void;
}

const STARTED = 'http.client.request.start';

/** Before Node 24 the timer of a socket has the function of when it was set. */
function setAnew(request: ClientRequest): void {
  const set = (socket: Socket): void => {
    if (socket.timeout !== undefined && socket.timeout > 0) socket.setTimeout(socket.timeout);
  };
  const { socket } = request as { socket?: Socket | null };
  if (socket === undefined || socket === null) request.once('socket', set);
  else set(socket);
}

/**
 * Reports each event `timeout` of a socket that sends a request, before its listeners are called. A listener of each
 * request would cost what few programs need.
 *
 * @param report gets how many bytes the socket has received.
 */
export function watchTimeouts(report: (request: ClientRequest, received: number) => void): void {
  const begin = (message: unknown): void => {
    diagnostics.unsubscribe(STARTED, begin);
    const { Socket: Class } = process.getBuiltinModule('node:net');
    const prototype = Class.prototype as Internals;
    const { _onTimeout: onTimeout } = prototype;
    if (onTimeout === undefined) return;
    // A socket that is busy sending emits nothing.
    prototype._onTimeout = function _onTimeout(this: Internals): void {
      const request = this._httpMessage;
      if (request === undefined || request === null) {
        onTimeout.call(this);
        return;
      }
      const emitted = (): void => {
        report(request, this.bytesRead);
      };
      this.prependOnceListener('timeout', emitted);
      try {
        onTimeout.call(this);
      } finally {
        this.off('timeout', emitted);
      }
    };
    setAnew((message as { request: ClientRequest }).request);
  };
  // Not before the program has loaded node:net, which takes long.
  subscribe(STARTED, begin);
}
