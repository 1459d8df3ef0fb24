import type { EventEmitter } from 'node:events';
import { spans } from '../../spans/shared-spans.js';

/**
 * Has the listeners of a stream of HTTP/2 run in the context of now. Otherwise they run in that of the connection:
 * from Node 24 on all of them, before that what a server of gRPC calls when it has received a message.
 */
export function emitInContext(stream: EventEmitter): void {
  const context = spans.activeContext();
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
  const { emit } = stream;
  stream.emit = function (this: EventEmitter, ...event: Parameters<typeof emit>) {
    if (spans.activeContext() === context) return emit.apply(this, event);
    const before = spans.swapContext(context);
    try {
      return emit.apply(this, event);
    } finally {
      spans.leaveContext(before);
    }
  };
}
