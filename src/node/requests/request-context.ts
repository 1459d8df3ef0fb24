import type { IncomingMessage, ServerResponse } from 'node:http';
import { spans } from '../../spans/shared-spans.js';
import type { Span } from '../../spans/span.js';
import { emitInContext, replaceMethod } from './emit-in-context.js';
import { CONNECTION } from './exchange.js';
import type { TracedSocket } from './exchange.js';

/** Whether what runs belongs to a request already: its span is active, or one below it. */
export function isWithin(request: Span): boolean {
  const context = spans.activeContext();
  return context === request || context?.activeSpan?.root === request;
}

function enter(request: Span): void {
  if (!isWithin(request)) spans.enterContext(request);
}

/** Node's reader of the requests of a connection. */
interface Parser {
  readonly constructor: { kOnBody?: unknown; kOnMessageComplete?: unknown };
  readonly incoming: { upgrade?: unknown } | null;
  readonly socket: TracedSocket | null;
  [callback: number]: unknown;
}

type Callback = (this: Parser, chunk?: unknown) => unknown;

/** Replacements of callbacks of Node's parsers. Node keeps its parsers in a pool, so few functions are made. */
const replaced = new WeakMap<Callback, Callback>();

/** Enters the request that a parser reads. Node leaves the context after each callback. */
function enterRead({ incoming, socket }: Parser): void {
  // A request to upgrade has no span yet. Clients have parsers of the same pool.
  if (incoming === null || incoming.upgrade === true || socket === null) return;
  const request = socket[CONNECTION]?.received;
  if (request !== undefined) spans.enterContext(request);
}

// A function for each callback: V8 knows then what it calls.

function inContextOfBody(usual: Callback): Callback {
  return function (chunk) {
    enterRead(this);
    return usual.call(this, chunk);
  };
}

function inContextOfEnd(usual: Callback): Callback {
  return function () {
    enterRead(this);
    return usual.call(this);
  };
}

function replaceCallback(
  parser: Parser,
  number: unknown,
  replace: (usual: Callback) => Callback,
): void {
  if (typeof number !== 'number') return;
  const usual = parser[number] as Callback | undefined;
  if (typeof usual !== 'function') return;
  let own = replaced.get(usual);
  if (own === undefined) {
    own = replace(usual);
    replaced.set(usual, own);
    replaced.set(own, own);
  }
  parser[number] = own;
}

function whenTimedOut(this: TracedSocket): void {
  const request = this[CONNECTION]?.oldest?.span;
  if (request !== undefined) enter(request);
  // The request before on the connection is not concerned.
  else if (spans.activeContext() !== undefined) spans.enterContext(undefined);
}

/**
 * Has what Node emits because of a request of HTTP/1 run in its context. Node runs listeners in the context in which
 * their source was made: what comes of a connection has that of the connection.
 */
export class RequestContext {
  /** Of a connection, once. */
  readonly adopt = (socket: TracedSocket): void => {
    socket.prependListener('timeout', whenTimedOut);
    const { parser } = socket as { parser?: Parser | null };
    // Before Node 24 the parser has the context of its last request.
    if (parser === undefined || parser === null || spans.areInResources()) return;
    replaceCallback(parser, parser.constructor.kOnBody, inContextOfBody);
    replaceCallback(parser, parser.constructor.kOnMessageComplete, inContextOfEnd);
  };

  /** A response is sent: its other listeners follow. Another request may have answered it. */
  readonly finish = enter;

  /** A response waits for those of earlier requests: Node sends it in the context of the last of them. */
  wait(request: Span, response: ServerResponse): void {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
    const { assignSocket } = response;
    replaceMethod(response, 'assignSocket', function (this: ServerResponse, socket: TracedSocket) {
      spans.applyIn(request, assignSocket, this, [socket]);
    });
  }

  /** A connection is closed, and Node is about to say so to a request that is not answered. */
  abort(request: Span, message: IncomingMessage, response: ServerResponse): void {
    emitInContext(request, message, isWithin);
    emitInContext(request, response, isWithin);
  }
}
